import { directionNote } from "./teacher/direction-note.ts";
import type { TeacherTemplate } from "./teacher/insert.ts";
import { priorTurn } from "./teacher/prior-turn.ts";
import { statedAnswer } from "./teacher/stated-answer.ts";
import { workedReply } from "./teacher/worked-reply.ts";

export const TEACHER_TEMPLATE_NAMES = [
  "direction-note",
  "worked-reply",
  "prior-turn",
  "stated-answer",
] as const;
export type TeacherTemplateName = (typeof TEACHER_TEMPLATE_NAMES)[number];

/** How the teacher is shown the supported candidate, by the name that recipes use. */
export const TEACHER_TEMPLATES: Readonly<Record<TeacherTemplateName, TeacherTemplate>> = {
  "direction-note": directionNote,
  "worked-reply": workedReply,
  "prior-turn": priorTurn,
  "stated-answer": statedAnswer,
};
