import { byCodeUnit } from "../canonical.ts";
import type { Question, QuestionSet } from "./schema.ts";
import { questionWarnings } from "./warnings.ts";

/** Lengths in Unicode characters (code points); median and p95 interpolate linearly. */
export interface TextLengths {
  readonly min: number;
  readonly median: number;
  readonly mean: number;
  readonly p95: number;
  readonly max: number;
}

/** What `palate questions check` says of a set; snake_case because it is printed as JSON. */
export interface QuestionReport {
  readonly source: string;
  readonly digest: string;
  readonly canary: string;
  readonly questions: number;
  readonly tasks: number;
  readonly reasons: number;
  readonly domains: Readonly<Record<string, number>>;
  readonly cells: Readonly<Record<string, number>>;
  /** How often the supported candidate is published as A and as B. */
  readonly answers: Readonly<Record<"A" | "B", number>>;
  readonly lengths: Readonly<Record<"prefix_text" | "prefix_text_short" | "query" | "choices", TextLengths>>;
  /** Share (0 to 1) of the questions whose supported candidate has more characters; far from 0.5 it is a cue. */
  readonly longer_option_rate: number;
  readonly warnings: readonly string[];
}

/** Counts and cues of a validated set; pure. The set holds at least one question, as readQuestions grants. */
export function checkQuestions(set: QuestionSet): QuestionReport {
  const { source, digest, questions } = set;
  return {
    source,
    digest,
    canary: questions[0]?.canary ?? "",
    questions: questions.length,
    tasks: new Set(questions.map((question) => question.task_id)).size,
    reasons: set.reasons.size,
    domains: tally(questions.map((question) => question.domain)),
    cells: tally(questions.map((question) => question.cell)),
    answers: {
      A: questions.filter((question) => question.answer === "A").length,
      B: questions.filter((question) => question.answer === "B").length,
    },
    lengths: {
      prefix_text: textLengths(questions.map((question) => question.prefix_text)),
      prefix_text_short: textLengths(questions.map((question) => question.prefix_text_short)),
      query: textLengths(questions.map((question) => question.query)),
      choices: textLengths(questions.flatMap((question) => question.choices)),
    },
    longer_option_rate: questions.filter(supportedIsLonger).length / questions.length,
    warnings: questionWarnings(questions),
  };
}

/** Counts of closed vocabularies (cells, domains), which validation has limited to known words. */
function tally(words: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => byCodeUnit(a, b)));
}

function textLengths(texts: readonly string[]): TextLengths {
  const sorted = texts.map(characters).sort((a, b) => a - b);
  return {
    min: quantile(sorted, 0),
    median: quantile(sorted, 0.5),
    mean: sorted.reduce((sum, length) => sum + length, 0) / sorted.length,
    p95: quantile(sorted, 0.95),
    max: quantile(sorted, 1),
  };
}

function characters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index += 1) {
    // The second half of a pair; the text is well-formed.
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count -= 1;
  }
  return count;
}

function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? 0;
  const above = sorted[Math.ceil(position)] ?? 0;
  return below + (above - below) * (position - Math.floor(position));
}

function supportedIsLonger({ choices, answer_index }: Question): boolean {
  const [first, second] = choices;
  const lead = characters(first) - characters(second);
  return answer_index === 0 ? lead > 0 : lead < 0;
}
