import type { Question } from "../schema.ts";
import { drawFrom } from "./draw.ts";
import { drawNames } from "./names.ts";
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
export function drawTasks(shape: Shape): readonly ControlTask[] {
  const names = drawNames(shape.seed);
  const width = namesPerTask(shape.questionsPerTask);
  return Array.from({ length: shape.tasks }, (_, index) => {
    return buildTask(shape.seed, index, names.slice(index * width, (index + 1) * width));
  });
}

/** One for the repository, one a module. */
export function namesPerTask(questionsPerTask: number): number {
  return questionsPerTask + 1;
}

function buildTask(seed: number, index: number, names: readonly (readonly [string, string])[]): ControlTask {
  const [repoHalves = [], ...moduleHalves] = names;
  const repo = repoHalves.join("-");
  const modules = moduleHalves.map((halves) => halves.join("_"));
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
