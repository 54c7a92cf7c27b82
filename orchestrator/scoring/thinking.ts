const OPEN = "<think>";
const CLOSE = "</think>";

export type AfterThinking = { readonly text: string } | { readonly reason: string };

/**
 * What of a reply may be read as the answer: the text after the last closing tag. Thinking that the prompt or
 * the reply opened and nothing closed gives a reason instead, since a line "ANSWER: A" in it may be an option
 * the model was still weighing. A closing tag counts even where nothing opened: prose that quotes it keeps its
 * last line, and a template that opens the block unseen is read rightly.
 */
export function afterThinking(text: string, prompt: { readonly opensThinking: boolean }): AfterThinking {
  const closed = text.lastIndexOf(CLOSE);
  if (text.lastIndexOf(OPEN) > closed || (prompt.opensThinking && closed < 0)) {
    return { reason: "thinking not closed" };
  }
  if (closed < 0) return { text };
  const rest = text.slice(closed + CLOSE.length);
  return rest.trim() === "" ? { reason: "nothing after thinking" } : { text: rest };
}
