import { UsageError } from "../../errors.ts";
import type { Question } from "../schema.ts";
import { drawFrom } from "./draw.ts";
import { drawModules, drawRepositories } from "./names.ts";
import { fill, QUERIES } from "./phrases.ts";

export interface ControlTask {
  readonly seed: number;
  readonly domain: Question["domain"];
  /** Also the task's id; no other task of the set has it. */
  readonly repo: string;
  readonly query: string;
  readonly pairs: readonly ControlPair[];
}

/** What a pair of twins is about: two modules that no other pair of the set mentions. */
export interface ControlPair {
  /** Names the pair in draws. */
  readonly key: string;
  readonly method: Question["method"];
  readonly modules: readonly [string, string];
}

interface Shape {
  readonly seed: number;
  readonly tasks: number;
  readonly questionsPerTask: number;
}

/** Made-up repositories and models with their modules. */
export function drawTasks({ seed, tasks, questionsPerTask: width }: Shape): readonly ControlTask[] {
  const repositories = drawRepositories(seed);
  const modules = drawModules(seed);
  if (tasks > repositories.length || tasks * width > modules.length) {
    throw new UsageError(
      `${tasks} tasks of ${width} questions need more names than there are: ` +
        `${repositories.length} of repositories, ${modules.length} of modules.`,
      { nextStep: "Ask for fewer tasks, or for several sets with different seeds." },
    );
  }
  return repositories
    .slice(0, tasks)
    .map((repo, index) => buildTask(seed, index, repo, modules.slice(index * width, (index + 1) * width)));
}

function buildTask(seed: number, index: number, repo: string, modules: readonly string[]): ControlTask {
  const domain = index % 2 === 0 ? "engineering" : "research";
  const query = fill(drawFrom(seed, `query ${index}`, QUERIES[domain]), new Map([["repo", repo]]));
  const pairs = Array.from({ length: modules.length / 2 }, (_, pair) => buildPair(index, pair, modules));
  return { seed, domain, repo, query, pairs };
}

/** Methods alternate within a task and from one task of a domain to the next. */
function buildPair(task: number, pair: number, modules: readonly string[]): ControlPair {
  const method = (Math.floor(task / 2) + pair) % 2 === 0 ? "detour" : "parallel";
  const [first = "", second = ""] = modules.slice(2 * pair);
  return { key: `${task} ${pair}`, method, modules: [first, second] };
}
