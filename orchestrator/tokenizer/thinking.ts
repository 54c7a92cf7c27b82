/**
 * Whether a rendered prompt leaves a thinking block open, so that the reply starts inside it and only the closing
 * tag will be sampled. Read at the very end: a question may name the tags anywhere.
 */
export function promptOpensThinking(renderedText: string): boolean {
  return /<think>\s*$/.test(renderedText);
}
