import type { ChatMessage } from "../../tokenizer/chat-tokenizer.ts";
import type { Demonstration } from "../demonstration.ts";
import type { QuestionView } from "../question-view.ts";
import { questionText, SYSTEM } from "../student.ts";

/** Messages, and where in them the demonstration stands (code units of one message's content). */
export interface TeacherPrompt {
  readonly messages: readonly ChatMessage[];
  readonly demonstration: { readonly message: number; readonly start: number; readonly end: number };
}

export type TeacherTemplate = (view: QuestionView, demonstration: Demonstration) => TeacherPrompt;

interface Parts {
  /** Instruction between question and demonstration; empty where it comes last. */
  readonly before?: string;
  readonly shown: string;
  readonly closing: string;
}

/** The student's two turns with the demonstration in the second, after the question that both sides share. */
export function insertDemonstration(view: QuestionView, { before, shown, closing }: Parts): TeacherPrompt {
  const head = [questionText(view), ...(before === undefined ? [] : [before]), ""].join("\n\n");
  return {
    messages: [
      { role: "system", content: SYSTEM },
      { role: "user", content: `${head}${shown}\n\n${closing}` },
    ],
    demonstration: { message: 1, start: head.length, end: head.length + shown.length },
  };
}
