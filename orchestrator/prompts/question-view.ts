import type { Letter, Order, Question } from "../questions/schema.ts";

/** Whether a reply thinks aloud before its answer line. */
export const REASONING = ["brief", "none"] as const;
export type Reasoning = (typeof REASONING)[number];

export const PREFIX_COLUMNS = ["prefix_text", "prefix_text_short"] as const;
export type PrefixColumn = (typeof PREFIX_COLUMNS)[number];

/** What a prompt shows of a question: nothing in here tells which option is supported. */
export interface QuestionView {
  readonly query: string;
  readonly prefix: string;
  readonly options: { readonly A: string; readonly B: string };
  readonly reasoning: Reasoning;
}

interface Shown {
  readonly prefix: string;
  readonly order: Order;
  readonly reasoning: Reasoning;
}

export function viewQuestion(question: Pick<Question, "query" | "choices">, shown: Shown): QuestionView {
  const [first, second] = question.choices;
  const options = shown.order === "published" ? { A: first, B: second } : { A: second, B: first };
  return { query: question.query, prefix: shown.prefix, options, reasoning: shown.reasoning };
}

/** The option text under a letter in this order. */
export function optionText(question: Pick<Question, "choices">, order: Order, letter: Letter): string {
  const [first, second] = question.choices;
  return (letter === "A") === (order === "published") ? first : second;
}
