import { DataError } from "../errors.ts";
import type { ChatTokenizer } from "./chat-tokenizer.ts";

/** How a choice continues the answer line. */
export interface ChoiceTokens {
  readonly forcedText: string;
  readonly forcedIds: readonly number[];
  /** The one token that follows `forcedIds` for " A" and for " B". */
  readonly letterIds: { readonly A: number; readonly B: number };
}

const FORCED = "ANSWER:";
const CONTEXTS = ["", "\n\n", "so.\n", "so.\n\n"];

/**
 * The tokens at which a choice is read, forced and trained. DataError when the tokenizer does not write the
 * letters as one token after the same ids, alone and in the places where an answer line stands.
 */
export function choiceTokens(tokenizer: Pick<ChatTokenizer, "encodeText">): ChoiceTokens {
  const forcedIds = tokenizer.encodeText(FORCED);
  const found = CONTEXTS.map((context) => letterIdsAfter(tokenizer, context));
  const [first] = found;
  if (first === undefined || found.some((ids) => ids.A !== first.A || ids.B !== first.B)) {
    throw unusable("the letter's token changes with the text before it");
  }
  const line = tokenizer.encodeText(`${FORCED} A`);
  if (!sameIds(line, [...forcedIds, first.A]))
    throw unusable(`"${FORCED}" is split otherwise before a letter`);
  return { forcedText: FORCED, forcedIds, letterIds: first };
}

function letterIdsAfter(
  tokenizer: Pick<ChatTokenizer, "encodeText">,
  context: string,
): { A: number; B: number } {
  const a = tokenizer.encodeText(`${context}${FORCED} A`);
  const b = tokenizer.encodeText(`${context}${FORCED} B`);
  const [lastA, lastB] = [a.at(-1), b.at(-1)];
  const oneApart = lastA !== lastB && sameIds(a.slice(0, -1), b.slice(0, -1));
  if (!oneApart || lastA === undefined || lastB === undefined)
    throw unusable("the letters are not one token");
  return { A: lastA, B: lastB };
}

function sameIds(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((id, at) => id === right[at]);
}

function unusable(reason: string): DataError {
  return new DataError(
    `This tokenizer cannot write "${FORCED} A" and "${FORCED} B" one token apart: ${reason}.`,
    {
      nextStep: "Use another base model.",
    },
  );
}
