import { type Demonstration, goodReply } from "../demonstration.ts";
import type { QuestionView } from "../question-view.ts";
import { studentMessages } from "../student.ts";
import type { TeacherPrompt } from "./insert.ts";

/** Gives a good reply as an earlier turn of the model's own, then asks again. */
export function priorTurn(view: QuestionView, demonstration: Demonstration): TeacherPrompt {
  const reply = goodReply(demonstration, view.reasoning);
  const asked = studentMessages(view);
  const again = view.reasoning === "brief" ? "Say it again in other words." : "Give the same answer again.";
  return {
    messages: [
      ...asked,
      { role: "assistant", content: reply },
      { role: "user", content: `That is right. ${again}` },
    ],
    demonstration: { message: asked.length, start: 0, end: reply.length },
  };
}
