import type { Demonstration } from "../demonstration.ts";
import type { QuestionView } from "../question-view.ts";
import { instruction } from "../student.ts";
import { insertDemonstration, type TeacherPrompt } from "./insert.ts";

/** Names the supported direction by its content, never by a letter. */
export function directionNote(view: QuestionView, demonstration: Demonstration): TeacherPrompt {
  const because = demonstration.reason === undefined ? "" : `\n${demonstration.reason}`;
  return insertDemonstration(view, {
    shown: `The better direction is:\n${demonstration.supportedText}${because}`,
    closing: instruction(view.reasoning),
  });
}
