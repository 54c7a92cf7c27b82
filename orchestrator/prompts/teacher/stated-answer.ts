import type { Demonstration } from "../demonstration.ts";
import type { QuestionView } from "../question-view.ts";
import { insertDemonstration, type TeacherPrompt } from "./insert.ts";

/**
 * Says which option is right, and asks for the way there. The last line names the one answer: a small model that
 * is offered both letters there forgets what was said before (docs/decisions.md).
 */
export function statedAnswer(view: QuestionView, demonstration: Demonstration): TeacherPrompt {
  const because = demonstration.reason === undefined ? "" : ` ${demonstration.reason}`;
  const request = view.reasoning === "brief" ? "Explain why, end" : "Reply";
  return insertDemonstration(view, {
    shown: `The right answer is ${demonstration.letter}.${because}`,
    closing: `${request} with one line: ANSWER: ${demonstration.letter}`,
  });
}
