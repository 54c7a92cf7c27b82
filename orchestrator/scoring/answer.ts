import type { Letter } from "../questions/schema.ts";
import { afterThinking } from "./thinking.ts";

export interface Reply {
  readonly text: string;
  /** `stop`, `length`, `choice` (ended on the letter by the runner), or what an endpoint reports. */
  readonly finishReason: string;
  /** Whether the prompt ended inside an open thinking block. */
  readonly promptOpensThinking: boolean;
}

export interface Answer {
  /** The protocol's reading, the only one that scores. */
  readonly letter: Letter | null;
  /** What a reading through decoration and trailing text finds; a labelled sensitivity, never a score. */
  readonly tolerant: Letter | null;
  /** Why `letter` is null. */
  readonly reason: string | null;
}

/**
 * Reads a reply by the rule of paired_order_v1: a bare letter, or a last line `ANSWER: X`, in any case.
 * Everything else is no answer; a reply at its token limit is read by the same rule.
 */
export function readAnswer(reply: Reply): Answer {
  const rest = afterThinking(reply.text, { opensThinking: reply.promptOpensThinking });
  if ("reason" in rest) return { letter: null, tolerant: null, reason: rest.reason };
  const lines = rest.text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const letter = readStrict(lines);
  const tolerant = readTolerant(lines);
  return { letter, tolerant, reason: letter === null ? noAnswerReason(lines, reply.finishReason) : null };
}

function readStrict(lines: readonly string[]): Letter | null {
  const last = lines.at(-1);
  if (last === undefined) return null;
  const bare = lines.length === 1 ? /^([AB])$/i.exec(last) : null;
  return asLetter((bare ?? /^ANSWER:[ \t]*([AB])$/i.exec(last))?.[1]);
}

const DECORATION = /[*_`$"'()[\]{}\\]/g;

function readTolerant(lines: readonly string[]): Letter | null {
  const plain = lines.map((line) => line.replace(DECORATION, "").trim());
  const bare = plain.length === 1 ? /^([AB])[.]?$/i.exec(plain[0] ?? "") : null;
  if (bare !== null) return asLetter(bare[1]);
  const last = plain.findLast((line) => ANSWER_LINE.test(line));
  return last === undefined ? null : soleLetter(last.replace(ANSWER_LINE, ""));
}

const ANSWER_LINE = /^[#>\-\s]*ANSWER\s*:\s*/i;

/**
 * The letter that `stated` (the text behind "ANSWER:") begins with, if it names no other. A letter followed by
 * a word is not one: in "A step back" it is an article.
 */
function soleLetter(stated: string): Letter | null {
  const found = /^([AB])\s*(?:$|[^\p{L}\p{N}\s])/iu.exec(stated);
  if (found === null) return null;
  const rest = stated.slice(1);
  const another = /\b[A-HJ-Z]\b|(?:\bor\b|\band\b|[,/&+|])\s*[ab]\s*(?:[^\w\s]|$)/;
  return another.test(rest) ? null : asLetter(found[1]);
}

function asLetter(found: string | undefined): Letter | null {
  const upper = found?.toUpperCase();
  return upper === "A" || upper === "B" ? upper : null;
}

function noAnswerReason(lines: readonly string[], finishReason: string): string {
  if (finishReason === "length") return "cut at the token limit";
  if (lines.length === 0) return "empty reply";
  return "no bare letter and no last line ANSWER: A or B";
}
