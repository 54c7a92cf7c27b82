import { z } from "zod";

const text = z.string().min(1);

/** Row of the v1.0 release: 14 columns, unchanged names (Taste-Bench export, schema_version 1). */
export const questionSchema = z
  .strictObject({
    id: text,
    domain: z.enum(["engineering", "research"]),
    method: z.enum(["detour", "parallel"]),
    cell: text,
    source: text,
    task_id: text,
    query: text,
    prefix_text: text,
    prefix_text_short: text,
    prefix_steps: z.int().min(1),
    choices: z.tuple([text, text]),
    answer: z.enum(["A", "B"]),
    answer_index: z.int().min(0).max(1),
    canary: text,
  })
  .readonly();

/** A decision fork as asked. `choices[answer_index]` is the supported candidate. */
export type Question = z.infer<typeof questionSchema>;

/** One question in one order: `published` shows choices[0] as A, `reversed` shows choices[1] as A. */
export const ORDERS = ["published", "reversed"] as const;
export type Order = (typeof ORDERS)[number];
export type Letter = "A" | "B";

/** The letter under which the supported candidate is shown in this order. */
export function supportedLetter(question: Pick<Question, "answer_index">, order: Order): Letter {
  return (question.answer_index === 0) === (order === "published") ? "A" : "B";
}

/** A validated question set with its identity. */
export interface QuestionSet {
  /** Where it was read from, as the user named it. */
  readonly source: string;
  /** sha256 over canonical JSON of the rows sorted by id (code units), hex. */
  readonly digest: string;
  readonly questions: readonly Question[];
  /** One-sentence reasons for demonstrations, keyed by question id; empty when the source has no side file. */
  readonly reasons: ReadonlyMap<string, string>;
}
