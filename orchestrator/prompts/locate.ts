import { DataError } from "../errors.ts";
import type { ChatMessage } from "../tokenizer/chat-tokenizer.ts";

/** Part of a text, in code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the contents of the messages stand in a rendered prompt. DataError when one does not stand there letter
 * for letter and in order: a template that rewrites contents would show both sides other questions.
 */
export function contentSpans(text: string, messages: readonly ChatMessage[], questionId: string): Span[] {
  const spans: Span[] = [];
  for (const { role, content } of messages) {
    const start = text.indexOf(content, spans.at(-1)?.end ?? 0);
    if (start < 0) throw rewritten(questionId, role);
    spans.push({ start, end: start + content.length });
  }
  return spans;
}

function rewritten(questionId: string, role: string): DataError {
  return new DataError(`The chat template changes the ${role} message of question ${questionId}.`, {
    nextStep: "Use a chat template that shows system and user messages as they are.",
    facts: { question: questionId, role },
  });
}
