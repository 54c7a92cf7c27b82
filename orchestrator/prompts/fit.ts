import { DataError } from "../errors.ts";

/** A prompt that must hold the prefix. */
export interface FittedPrompt {
  /** As messages name it: "student, reversed". */
  readonly name: string;
  /** Tokens it may have. */
  readonly budget: number;
  /** Tokens of the whole prompt with this prefix. */
  readonly count: (prefix: string) => number;
}

interface CutRule {
  readonly questionId: string;
  readonly prefix: string;
  /** Lines kept at the start, whole. */
  readonly headLines?: number;
  /** The line that stands for what was cut. */
  readonly marker?: string;
}

export interface Fitted {
  readonly prefix: string;
  readonly cut: boolean;
}

export const HEAD_LINES = 25;
export const MARKER = "[... steps left out ...]";

/** `fitQuestion` for a single prompt. */
export function fitPrefix(input: CutRule & Omit<FittedPrompt, "name">): Fitted {
  const { budget, count, ...rule } = input;
  return fitQuestion({ ...rule, prompts: [{ name: "prompt", budget, count }] });
}

/**
 * One prefix that fits every prompt of a question. It is untouched where it fits; otherwise the first lines, a
 * marker line and the longest tail, cut between code points (Taste-Bench paired_order_v1). With one more code
 * point some prompt is over its budget. DataError when a prompt has no room for the tail at all.
 */
export function fitQuestion(input: CutRule & { readonly prompts: readonly FittedPrompt[] }): Fitted {
  const prompts = worstFirst(input.prompts, input.prefix);
  if (prompts.every(({ excess }) => excess <= 0)) return { prefix: input.prefix, cut: false };
  const { head, tail } = splitHead(input.prefix, input.headLines ?? HEAD_LINES);
  const start = `${head}\n${input.marker ?? MARKER}\n`;
  const bounds = codePointStarts(tail);
  const withTail = (length: number) => start + tail.slice(bounds[bounds.length - 1 - length]);
  const firstOver = (length: number) =>
    prompts.find(({ prompt }) => prompt.count(withTail(length)) > prompt.budget)?.prompt;
  let length = Math.max(0, bounds.length - 2);
  // A tail that is shorter for one prompt's sake can have more tokens in another, where the cut splits a word.
  for (let over = firstOver(length); over !== undefined; over = firstOver(length)) {
    length = longestFitting(over, withTail, length, input.questionId);
  }
  return { prefix: withTail(length), cut: true };
}

function worstFirst(
  prompts: readonly FittedPrompt[],
  prefix: string,
): { prompt: FittedPrompt; excess: number }[] {
  return prompts
    .map((prompt) => ({ prompt, excess: prompt.count(prefix) - prompt.budget }))
    .sort((left, right) => right.excess - left.excess);
}

/**
 * The largest length found below `tooLong` at which the prompt fits and one more does not. Interpolates, as each
 * count is a whole encoding, and falls back on halves, as counts are only nearly linear.
 */
function longestFitting(
  prompt: FittedPrompt,
  withTail: (length: number) => string,
  tooLong: number,
  questionId: string,
): number {
  const tokens = (length: number) => prompt.count(withTail(length));
  let fits = { length: 0, tokens: tokens(0) };
  let over = { length: tooLong, tokens: tokens(tooLong) };
  if (fits.tokens > prompt.budget || tooLong === 0) throw noRoom(prompt, fits.tokens, questionId);
  for (let turn = 0; over.length - fits.length > 1; turn += 1) {
    const share = turn % 3 === 2 ? 0.5 : (prompt.budget - fits.tokens) / (over.tokens - fits.tokens);
    const step = Math.round(share * (over.length - fits.length));
    const length = Math.min(over.length - 1, Math.max(fits.length + 1, fits.length + step));
    const tried = { length, tokens: tokens(length) };
    if (tried.tokens > prompt.budget) over = tried;
    else fits = tried;
  }
  return fits.length;
}

function splitHead(text: string, lines: number): { head: string; tail: string } {
  let end = -1;
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) return { head: text, tail: "" };
  }
  return { head: text.slice(0, end), tail: text.slice(end + 1) };
}

/** Offsets at which the text may be cut: before each code point, and its end. */
function codePointStarts(text: string): number[] {
  const starts = [0];
  for (const point of text) starts.push((starts.at(-1) ?? 0) + point.length);
  return starts;
}

function noRoom(prompt: FittedPrompt, needed: number, questionId: string): DataError {
  const { name, budget } = prompt;
  return new DataError(
    `Question ${questionId} does not fit: the ${name} needs ${needed} tokens without the tail of its prefix, and ` +
      `has ${budget}.`,
    {
      nextStep: "Raise student_tokens or teacher_tokens in the recipe, or use prefix_text_short.",
      facts: { question: questionId, prompt: name, needed, budget },
    },
  );
}
