import type { ChatMessage } from "../tokenizer/chat-tokenizer.ts";
import { fillTemplate } from "./fill-template.ts";
import type { QuestionView, Reasoning } from "./question-view.ts";

/** Few words: a small model pays for each of them in every example. */
export const SYSTEM = "Pick the better direction.";

/** What both orders and both sides share comes first, so that it is computed once (prefix, then branches). */
const QUESTION = "Task:\n{query}\n\nSteps:\n{prefix}\n\nOption A:\n{choice_a}\n\nOption B:\n{choice_b}";

const INSTRUCTIONS = new Map<Reasoning, string>([
  ["brief", "Think briefly, end with one line: ANSWER: A or ANSWER: B"],
  ["none", "Reply with one line: ANSWER: A or ANSWER: B"],
]);

/** What the student is asked: the question alone. */
export function studentMessages(view: QuestionView): ChatMessage[] {
  return [
    { role: "system", content: SYSTEM },
    { role: "user", content: `${questionText(view)}\n\n${instruction(view.reasoning)}` },
  ];
}

/** Task, prefix and options: byte for byte the same text in every prompt of a presentation. */
export function questionText(view: QuestionView): string {
  return fillTemplate(QUESTION, {
    query: view.query,
    prefix: view.prefix,
    choice_a: view.options.A,
    choice_b: view.options.B,
  });
}

export function instruction(reasoning: Reasoning): string {
  return INSTRUCTIONS.get(reasoning) ?? "";
}
