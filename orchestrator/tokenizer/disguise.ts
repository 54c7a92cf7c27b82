import type { ControlToken } from "./chat-tokenizer.ts";

/**
 * Keeps apart the control tokens that a template writes and the same names inside a question. Names inside
 * contents are held back while the template runs; afterwards the marks that are left are the template's own
 * and get an alias, which the tokenizer knows instead of the name. Text can hold every name but no alias.
 */
export interface Disguise {
  /** A content with every name of a control token held back. */
  hold(content: string): string;
  /** What people read: all names letter for letter. */
  reveal(rendered: string): string;
  /** What the tokenizer reads: the template's marks as aliases, held names letter for letter. */
  mask(rendered: string): string;
  /** Aliases in text that the tokenizer gave back, as names. */
  unmask(decoded: string): string;
  aliasOf(name: string): string | undefined;
}

/** `nonce` must be unknown to whoever wrote the questions; ids and texts do not depend on it. */
export function makeDisguise(tokens: readonly ControlToken[], nonce: string): Disguise {
  const names = tokens.map((token) => token.content);
  const alias = new Map(names.map((name, index) => [name, `\u{F0000}${nonce}.${index}\u{F0001}`]));
  const held = new Map(names.map((name, index) => [name, `\u{F0002}${nonce}.${index}\u{F0003}`]));
  const heldBack = inverse(held);
  const aliasBack = inverse(alias);
  return {
    hold: swapper(held),
    reveal: swapper(heldBack),
    mask: swapper(new Map([...alias, ...heldBack])),
    unmask: swapper(aliasBack),
    aliasOf: (name) => alias.get(name),
  };
}

/** Replaces keys by values in one pass, the longest key first. */
function swapper(table: ReadonlyMap<string, string>): (text: string) => string {
  if (table.size === 0) return (text) => text;
  const keys = [...table.keys()].sort((a, b) => b.length - a.length).map(escapeRegExp);
  const pattern = new RegExp(keys.join("|"), "gu");
  return (text) => text.replace(pattern, (key) => table.get(key) ?? key);
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function inverse(table: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...table].map(([key, value]) => [value, key]));
}
