import type { ChatMessage } from "../../tokenizer/chat-tokenizer.ts";
import type { Demonstration } from "../demonstration.ts";
import type { QuestionView } from "../question-view.ts";
import { instruction, questionText, SYSTEM } from "../student.ts";

/** Messages, and where in them the demonstration stands (code units of one message's content). */
export interface TeacherPrompt {
  readonly messages: readonly ChatMessage[];
  readonly demonstration: { readonly message: number; readonly start: number; readonly end: number };
}

export type TeacherTemplate = (view: QuestionView, demonstration: Demonstration) => TeacherPrompt;

/** The student's two turns with the demonstration, and what to do with it, before the instruction. */
export function insertDemonstration(view: QuestionView, shown: string, request = ""): TeacherPrompt {
  const before = `${questionText(view)}\n\n`;
  const content = `${before}${shown}\n\n${request}${instruction(view.reasoning)}`;
  return {
    messages: [
      { role: "system", content: SYSTEM },
      { role: "user", content },
    ],
    demonstration: { message: 1, start: before.length, end: before.length + shown.length },
  };
}
