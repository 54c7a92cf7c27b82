import { type Demonstration, goodReply } from "../demonstration.ts";
import type { QuestionView } from "../question-view.ts";
import { insertDemonstration, type TeacherPrompt } from "./insert.ts";

/** Shows a good reply and asks for one. */
export function workedReply(view: QuestionView, demonstration: Demonstration): TeacherPrompt {
  const request = view.reasoning === "brief" ? "Now reply in your own words. " : "";
  return insertDemonstration(view, `A good reply:\n${goodReply(demonstration, view.reasoning)}`, request);
}
