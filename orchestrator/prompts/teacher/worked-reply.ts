import { type Demonstration, goodReply } from "../demonstration.ts";
import type { QuestionView } from "../question-view.ts";
import { instruction } from "../student.ts";
import { insertDemonstration, type TeacherPrompt } from "./insert.ts";

/** Shows a good reply and asks for one. */
export function workedReply(view: QuestionView, demonstration: Demonstration): TeacherPrompt {
  return insertDemonstration(view, {
    before: instruction(view.reasoning),
    shown: `A good reply:\n${goodReply(demonstration, view.reasoning)}`,
    closing: view.reasoning === "brief" ? "Now reply in your own words." : "Reply like this.",
  });
}
