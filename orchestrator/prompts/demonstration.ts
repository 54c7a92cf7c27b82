import { DataError } from "../errors.ts";
import { type Letter, type Order, type Question, supportedLetter } from "../questions/schema.ts";
import { optionText, type Reasoning } from "./question-view.ts";

/** What the teacher knows beyond the question. `letter` is that of one order; the texts are the same in both. */
export interface Demonstration {
  readonly supportedText: string;
  /** Why the record supports it, by content. */
  readonly reason?: string;
  readonly letter: Letter;
}

/** DataError for a reason that names an option by its letter, which would be wrong in one of the two orders. */
export function buildDemonstration(
  question: Pick<Question, "id" | "choices" | "answer_index">,
  order: Order,
  reason?: string,
): Demonstration {
  const letter = supportedLetter(question, order);
  const supportedText = optionText(question, order, letter);
  if (reason === undefined || reason.trim() === "") return { supportedText, letter };
  if (/\boption\s+[ab]\b|\banswer\s*:\s*[ab]\b/i.test(reason)) throw namesLetter(question.id, reason);
  return { supportedText, reason: reason.trim(), letter };
}

/** A reply as a good student would write it; with no reason on record it says the choice in a sentence. */
export function goodReply(demonstration: Demonstration, reasoning: Reasoning): string {
  const answer = `ANSWER: ${demonstration.letter}`;
  if (reasoning === "none") return answer;
  const sentence = demonstration.reason ?? `Option ${demonstration.letter} is the better direction.`;
  return `${sentence}\n${answer}`;
}

function namesLetter(id: string, reason: string): DataError {
  return new DataError(
    `The reason of question ${id} names an option by its letter: ${JSON.stringify(reason)}.`,
    {
      nextStep: "Say in the reason what the option does; letters change with the order.",
      facts: { question: id, reason },
    },
  );
}
