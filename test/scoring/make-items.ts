import type { Letter, Order } from "../../orchestrator/questions/schema.ts";
import { type ScoredItem, scorePairs } from "../../orchestrator/scoring/paired-order.ts";

/** A record as a runner writes it, answering `text`. */
export function record(id: string, order: Order, text: string) {
  return {
    question_id: id,
    order,
    sample: 0,
    checkpoint: "base",
    adapter_sha256: null,
    text,
    completion_ids: [32, 25, 362],
    finish_reason: "stop",
    forced_close: false,
    forced_start: null,
    letter: null,
    choice_index: 2,
    letter_mass: 0.75,
    letter_share: 0.5,
    prompt_tokens: 512,
    prompt_opens_thinking: false,
  };
}

export function question(id: string, taskId: string, supported: Letter = "A", cell = "detour_engineering") {
  return { id, task_id: taskId, cell, answer_index: supported === "A" ? 0 : 1 };
}

/**
 * Items from a compact drawing: one string a task, one of `2` (right in both orders), `1` (published only),
 * `r` (reversed only), `0` (wrong in both), `-` (no answer) a question.
 */
export function drawItems(tasks: readonly string[], prefix = "q"): ScoredItem[] {
  const questions = tasks.flatMap((drawing, task) =>
    [...drawing].map((mark, index) => ({ ...question(`${prefix}${task}-${index}`, `t${task}`), mark })),
  );
  const records = questions.flatMap(({ id, mark }) => [
    record(id, "published", mark === "-" ? "Hm." : `ANSWER: ${"21".includes(mark) ? "A" : "B"}`),
    record(id, "reversed", mark === "-" ? "Hm." : `ANSWER: ${"2r".includes(mark) ? "B" : "A"}`),
  ]);
  return scorePairs(questions, records);
}
