import { NotComparableError } from "../errors.ts";
import { type Letter, ORDERS, type Order, type Question, supportedLetter } from "../questions/schema.ts";
import { readAnswer } from "./answer.ts";
import type { ScoreRecord } from "./records.ts";

export type Outcome = "right" | "wrong" | "no_answer";

/** How one presentation was answered. Letters are as shown in that order. */
export interface ScoredPresentation {
  readonly outcome: Outcome;
  readonly letter: Letter | null;
  readonly tolerant: Letter | null;
  /** Why there is no answer; null where there is one. */
  readonly reason: string | null;
  readonly letterMass: number | null;
  readonly letterShare: number | null;
}

/** One question under one checkpoint. It counts only where both presentations are right. */
export interface ScoredItem extends Readonly<Record<Order, ScoredPresentation>> {
  readonly questionId: string;
  readonly taskId: string;
  readonly cell: string;
}

type AskedQuestion = Pick<Question, "id" | "task_id" | "cell" | "answer_index">;
type GivenRecord = Pick<
  ScoreRecord,
  | "question_id"
  | "order"
  | "checkpoint"
  | "adapter_sha256"
  | "text"
  | "finish_reason"
  | "letter_mass"
  | "letter_share"
  | "prompt_opens_thinking"
>;

/**
 * Joins the records of one checkpoint to the questions it was asked, one record an order, in the order of
 * `questions`. Throws NotComparableError when a presentation has no record or several, when a record's
 * question is not among the questions, and when records come from different checkpoints.
 */
export function scorePairs(
  questions: readonly AskedQuestion[],
  records: readonly GivenRecord[],
): ScoredItem[] {
  refuseMixedCheckpoints(records);
  refuseRepeatedQuestions(questions);
  const byPresentation = indexRecords(records);
  refuseUnknownQuestions(questions, records);
  refuseMissing(questions, byPresentation);
  return questions.map((question) => ({
    questionId: question.id,
    taskId: question.task_id,
    cell: question.cell,
    published: scorePresentation(question, "published", byPresentation),
    reversed: scorePresentation(question, "reversed", byPresentation),
  }));
}

function refuseMixedCheckpoints(records: readonly GivenRecord[]): void {
  const origins = new Set(
    records.map((each) => `${each.checkpoint} ${each.adapter_sha256 ?? "(no adapter)"}`),
  );
  if (origins.size < 2) return;
  throw new NotComparableError(
    `Records of ${origins.size} checkpoints are mixed: ${[...origins].join("; ")}.`,
    {
      nextStep: "Score each checkpoint by itself.",
      facts: { checkpoints: [...origins] },
    },
  );
}

function refuseRepeatedQuestions(questions: readonly AskedQuestion[]): void {
  const seen = new Set<string>();
  for (const { id } of questions) {
    if (seen.has(id)) throw incomplete(`Question ${JSON.stringify(id)} is asked twice`, [id]);
    seen.add(id);
  }
}

function presentationKey(id: string, order: Order): string {
  return `${order} ${id}`;
}

function indexRecords(records: readonly GivenRecord[]): Map<string, GivenRecord> {
  const byPresentation = new Map<string, GivenRecord>();
  for (const record of records) {
    const key = presentationKey(record.question_id, record.order);
    if (byPresentation.has(key)) {
      const name = `question ${JSON.stringify(record.question_id)} in ${record.order} order`;
      throw incomplete(`More than one record of ${name}`, [record.question_id]);
    }
    byPresentation.set(key, record);
  }
  return byPresentation;
}

function refuseUnknownQuestions(questions: readonly AskedQuestion[], records: readonly GivenRecord[]): void {
  const asked = new Set(questions.map((each) => each.id));
  const unknown = [...new Set(records.map((each) => each.question_id))].filter((id) => !asked.has(id));
  if (unknown.length === 0) return;
  throw incomplete(`${unknown.length} questions have records but were not asked: ${few(unknown)}`, unknown);
}

function refuseMissing(
  questions: readonly AskedQuestion[],
  byPresentation: ReadonlyMap<string, GivenRecord>,
): void {
  for (const order of ORDERS) {
    const missing = questions
      .map((each) => each.id)
      .filter((id) => !byPresentation.has(presentationKey(id, order)));
    if (missing.length > 0) {
      throw incomplete(
        `${missing.length} questions have no record in ${order} order: ${few(missing)}`,
        missing,
      );
    }
  }
}

function few(ids: readonly string[]): string {
  return `${ids
    .slice(0, 3)
    .map((id) => JSON.stringify(id))
    .join(", ")}${ids.length > 3 ? ", ..." : ""}`;
}

function incomplete(message: string, questions: readonly string[]): NotComparableError {
  return new NotComparableError(`${message}.`, {
    nextStep:
      "Every question needs exactly one record in each order; let the score stage finish, or score again.",
    facts: { questions },
  });
}

function scorePresentation(
  question: AskedQuestion,
  order: Order,
  byPresentation: ReadonlyMap<string, GivenRecord>,
): ScoredPresentation {
  const record = byPresentation.get(presentationKey(question.id, order));
  if (record === undefined) throw incomplete(`No record in ${order} order`, [question.id]);
  const { letter, tolerant, reason } = readAnswer({
    text: record.text,
    finishReason: record.finish_reason,
    promptOpensThinking: record.prompt_opens_thinking,
  });
  return {
    outcome: letter === null ? "no_answer" : letter === supportedLetter(question, order) ? "right" : "wrong",
    letter,
    tolerant,
    reason,
    letterMass: record.letter_mass,
    letterShare: record.letter_share,
  };
}
