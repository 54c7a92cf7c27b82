import type { Demonstration } from "../demonstration.ts";
import type { QuestionView } from "../question-view.ts";
import { insertDemonstration, type TeacherPrompt } from "./insert.ts";

/** Says which option is right, and asks for the way there. */
export function statedAnswer(view: QuestionView, demonstration: Demonstration): TeacherPrompt {
  const because = demonstration.reason === undefined ? "" : ` ${demonstration.reason}`;
  const request = view.reasoning === "brief" ? "Explain why. " : "";
  return insertDemonstration(view, `Option ${demonstration.letter} is right.${because}`, request);
}
