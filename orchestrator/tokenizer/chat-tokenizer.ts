/** One turn of a chat, as templates read it. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface RenderOptions {
  /** End with the header under which the model replies. Default true. */
  readonly addGenerationPrompt?: boolean;
  /** Further variables of the template, as `{ enable_thinking: false }`. */
  readonly templateArgs?: Readonly<Record<string, unknown>>;
}

/** What the model gets: the text that people read and the token ids, never made again from the text. */
export interface Encoded {
  readonly text: string;
  readonly ids: readonly number[];
}

/** A token that steers the model: text of a question may name it but never becomes it. */
export interface ControlToken {
  readonly content: string;
  readonly id: number;
}

/** The tokenizer and chat template of a model folder. Everything is pure; errors are DataErrors. */
export interface ChatTokenizer {
  render(messages: readonly ChatMessage[], options?: RenderOptions): string;
  /** Only the template's own marks become control tokens; no begin mark is added to the template's. */
  encodePrompt(messages: readonly ChatMessage[], options?: RenderOptions): Encoded;
  /** Plain text in the middle of a sequence: no begin mark, no control token. */
  encodeText(text: string): number[];
  /** Plain text as a sequence of its own, with the begin mark that the tokenizer adds by itself. */
  encodeSequence(text: string): number[];
  /** The text of all ids, control tokens included. */
  decode(ids: readonly number[]): string;
  /** Length of `encodeText(text)`. */
  count(text: string): number;
  readonly specialTokens: readonly ControlToken[];
  /** Ids that end a reply, ascending. */
  readonly eosIds: readonly number[];
  /** sha256 over all that prompts and ids depend on. */
  readonly digest: string;
  /** The date that the template gets, `YYYY-MM-DD`; null when it asks for none. */
  readonly pinnedDate: string | null;
}
