import { type Recipe, TEACHER_TEMPLATE_NAMES } from "../recipe.ts";
import { directionNote } from "./teacher/direction-note.ts";
import type { TeacherTemplate } from "./teacher/insert.ts";
import { priorTurn } from "./teacher/prior-turn.ts";
import { statedAnswer } from "./teacher/stated-answer.ts";
import { workedReply } from "./teacher/worked-reply.ts";

/** The names are the recipe's; the type makes sure that each has its template. */
export type TeacherTemplateName = Recipe["prompts"]["teacher_template"];

/** How the teacher is shown the supported candidate, by the name that recipes use. */
export const TEACHER_TEMPLATES: Readonly<Record<TeacherTemplateName, TeacherTemplate>> = {
  "direction-note": directionNote,
  "worked-reply": workedReply,
  "prior-turn": priorTurn,
  "stated-answer": statedAnswer,
};

export { TEACHER_TEMPLATE_NAMES };
