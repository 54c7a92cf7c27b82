import { randomBytes } from "node:crypto";
import { Tokenizer } from "@huggingface/tokenizers";
import { DataError } from "../errors.ts";
import type { ChatMessage, ChatTokenizer, ControlToken, RenderOptions } from "./chat-tokenizer.ts";
import { type Disguise, makeDisguise } from "./disguise.ts";
import type { TokenizerConfig, TokenizerFile } from "./files.ts";
import { parseTemplate } from "./template.ts";

export interface TokenizerParts {
  readonly folder: string;
  readonly file: TokenizerFile;
  readonly config: TokenizerConfig;
  readonly chatTemplate: string;
  readonly ends: readonly number[];
  readonly digest: string;
  readonly date: string;
}

export function buildTokenizer(parts: TokenizerParts): ChatTokenizer {
  const specialTokens = controlTokens(parts.file);
  const disguise = makeDisguise(specialTokens, randomBytes(8).toString("hex"));
  const template = parseTemplate(parts.chatTemplate, parts.date, parts.folder);
  const encode = makeEncoder(parts, specialTokens, disguise);
  const names = tokenNames(parts.config);

  function renderHeld(messages: readonly ChatMessage[], options: RenderOptions): string {
    return template.render({
      ...names,
      ...options.templateArgs,
      messages: messages.map(({ role, content }) => ({ role, content: disguise.hold(content) })),
      add_generation_prompt: options.addGenerationPrompt ?? true,
    });
  }

  return {
    render: (messages, options = {}) => disguise.reveal(renderHeld(messages, options)),
    encodePrompt(messages, options = {}) {
      const held = renderHeld(messages, options);
      return { text: disguise.reveal(held), ids: encode.ids(disguise.mask(held), false) };
    },
    encodeText: (text) => encode.ids(text, false),
    encodeSequence: (text) => encode.ids(text, true),
    decode: (ids) => disguise.unmask(encode.text(ids)),
    count: (text) => encode.ids(text, false).length,
    specialTokens,
    eosIds: eosIds(parts, specialTokens),
    digest: parts.digest,
    pinnedDate: template.asksForDate ? parts.date : null,
  };
}

/**
 * Every added token flagged special, and those that models use as control tokens without the flag: names with
 * bars (<|x|>, <|x>, <x|>) and the marks of thinking and tool calls (Qwen3 family). Other added tokens (runs of
 * spaces, HTML tags in Gemma) are ordinary text.
 */
function controlTokens(file: TokenizerFile): ControlToken[] {
  const shaped = /^<[|｜].*>$|^<.*[|｜]>$|^<\/?(?:think|tool_call|tool_response)>$/su;
  return file.added_tokens
    .filter((token) => token.special || shaped.test(token.content))
    .map(({ content, id }) => ({ content, id }));
}

/** What is used of the library, whose own types do not resolve under nodenext. */
interface LibraryTokenizer {
  encode(
    text: string,
    options: { add_special_tokens: boolean },
  ): { ids: (number | undefined)[]; tokens: string[] };
  decode(ids: number[], options: { clean_up_tokenization_spaces: boolean }): string;
}

interface Encoder {
  readonly ids: (text: string, addSpecial: boolean) => number[];
  readonly text: (ids: readonly number[]) => string;
}

function makeEncoder(parts: TokenizerParts, control: readonly ControlToken[], disguise: Disguise): Encoder {
  const tokenizer: LibraryTokenizer = new Tokenizer(disguised(parts.file, disguise), parts.config);
  const controlIds = new Set(control.map((token) => token.id));
  const aliases = new Set(control.map((token) => disguise.aliasOf(token.content)));
  return {
    ids(text, addSpecial) {
      const { ids, tokens } = tokenizer.encode(text, { add_special_tokens: addSpecial });
      return ids.map((id, at): number => {
        if (id !== undefined && controlIds.has(id) === aliases.has(tokens[at])) return id;
        throw unencodable(parts.folder, tokens[at]);
      });
    },
    text(ids) {
      if (ids.length === 0) return "";
      return tokenizer.decode([...ids], { clean_up_tokenization_spaces: false });
    },
  };
}

/** The tokenizer file with aliases where it had names: the same ids, the same handling, no name recognised. */
function disguised(file: TokenizerFile, disguise: Disguise): TokenizerFile {
  const added = file.added_tokens.map((token) => ({
    ...token,
    content: disguise.aliasOf(token.content) ?? token.content,
  }));
  return { ...file, added_tokens: added, post_processor: renameStrings(file.post_processor, disguise) };
}

function renameStrings(value: unknown, disguise: Disguise): unknown {
  const text = JSON.stringify(value ?? null);
  return JSON.parse(text, (_key, part) =>
    typeof part === "string" ? (disguise.aliasOf(part) ?? part) : part,
  );
}

function unencodable(folder: string, token: string | undefined): DataError {
  return new DataError(`The tokenizer of ${folder} reads plain text as ${JSON.stringify(token ?? null)}.`, {
    nextStep: "Use a model with a byte-level tokenizer, which has a token for every text.",
    facts: { folder, token: token ?? null },
  });
}

function tokenNames(config: TokenizerConfig): Record<string, string> {
  const names = ["bos_token", "eos_token", "unk_token", "pad_token"] as const;
  const set = names.map((name) => [name, tokenName(config[name])] as const);
  return Object.fromEntries(
    set.filter((entry): entry is [(typeof names)[number], string] => entry[1] !== null),
  );
}

function tokenName(value: TokenizerConfig["eos_token"]): string | null {
  return typeof value === "string" ? value : (value?.content ?? null);
}

/** The tokenizer's own end, those of the model's configs, and the end of a ChatML turn where that is the form. */
function eosIds(parts: TokenizerParts, control: readonly ControlToken[]): number[] {
  const names = new Set([tokenName(parts.config.eos_token)]);
  if (parts.chatTemplate.includes("<|im_end|>")) names.add("<|im_end|>");
  const named = control.filter((token) => names.has(token.content)).map((token) => token.id);
  return [...new Set([...parts.ends, ...named])].sort((a, b) => a - b);
}
