import type { Question } from "../schema.ts";
import { drawFrom, drawOrder } from "./draw.ts";
import { CANDIDATES, CUES, fill, OPENINGS } from "./phrases.ts";
import type { ControlPair, ControlTask } from "./tasks.ts";

type Draft = Omit<Question, "id"> & { readonly reason: string };

interface Candidate {
  readonly module: string;
  readonly text: string;
}

/** Everything that the two questions share, as drawn. */
interface Shared {
  readonly opening: string;
  readonly cue: { readonly step: string; readonly reason: string };
  readonly candidates: readonly [Candidate, Candidate];
}

const LETTERS = ["A", "B"] as const;
const CANARY = "palate-control canary 5d0b6a0e-3f5c-4c1e-9b57-c2f0a7d1e846";

/** Two questions that differ in the module that the cue names, and so in the answer. */
export function draftTwins(task: ControlTask, pair: ControlPair): readonly Draft[] {
  const shared = drawShared(task, pair);
  return drawOrder<0 | 1>(task.seed, `earlier twin ${pair.key}`, 0, 1).map((supported) =>
    draftQuestion(task, pair, shared, supported),
  );
}

function drawShared(task: ControlTask, pair: ControlPair): Shared {
  const { seed, domain } = task;
  const { key, method } = pair;
  const [current, other] = pair.modules;
  const wording = drawFrom(seed, `candidates ${key}`, CANDIDATES[method]);
  return {
    opening: drawFrom(seed, `opening ${key}`, OPENINGS[method]),
    cue: drawFrom(seed, `cue ${key}`, CUES[domain]),
    candidates: drawOrder<Candidate>(
      seed,
      `candidates' order ${key}`,
      { module: current, text: fill(wording.current, new Map([["module", current]])) },
      { module: other, text: fill(wording.other, new Map([["module", other]])) },
    ),
  };
}

function draftQuestion(task: ControlTask, pair: ControlPair, shared: Shared, supported: 0 | 1): Draft {
  const [first, second] = shared.candidates;
  const named = supported === 0 ? first : second;
  const slots = new Map([["named", named.module]]);
  const prefix = `[1] ${shared.opening}\n[2] ${fill(shared.cue.step, slots)}`;
  return {
    domain: task.domain,
    method: pair.method,
    cell: `${pair.method}_${task.domain}`,
    source: "palate-control",
    task_id: task.repo,
    query: task.query,
    prefix_text: prefix,
    prefix_text_short: prefix,
    prefix_steps: 2,
    choices: [first.text, second.text],
    answer: LETTERS[supported],
    answer_index: supported,
    canary: CANARY,
    reason: fill(shared.cue.reason, slots),
  };
}
