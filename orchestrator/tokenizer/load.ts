import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import { DataError } from "../errors.ts";
import { buildTokenizer } from "./build.ts";
import type { ChatTokenizer } from "./chat-tokenizer.ts";
import { configSchema, generationSchema, type TokenizerConfig, tokenizerFileSchema } from "./files.ts";

export interface LoadOptions {
  /** What a template that asks for today's date gets, `YYYY-MM-DD`. Default `PINNED_DATE`. */
  readonly date?: string;
}

/** A fixed day: prompts, and with them every stage key, must not change overnight. */
export const PINNED_DATE = "2025-01-01";

/**
 * Reads tokenizer.json, tokenizer_config.json, the chat template (its own file before the config's) and the end
 * ids of generation_config.json and config.json. DataError when a needed file is absent or not what it should be.
 */
export async function loadTokenizer(folder: string, options: LoadOptions = {}): Promise<ChatTokenizer> {
  const [file, config, template, ends] = await Promise.all([
    readJson(folder, "tokenizer.json", tokenizerFileSchema),
    readJson(folder, "tokenizer_config.json", configSchema),
    readOptional(join(folder, "chat_template.jinja")),
    readEnds(folder),
  ]);
  if (file === undefined) throw missing(folder, "tokenizer.json");
  const chatTemplate = template ?? configTemplate(config?.value.chat_template);
  if (chatTemplate === undefined) throw missing(folder, "chat template");
  const date = options.date ?? PINNED_DATE;
  const digest = sha256Hex(
    canonicalJson({
      tokenizer: sha256Hex(file.text),
      config: sha256Hex(config?.text ?? ""),
      template: sha256Hex(chatTemplate),
      ends,
      date,
    }),
  );
  const parts = { folder, file: file.value, config: config?.value ?? {}, chatTemplate, ends, digest, date };
  return buildTokenizer(parts);
}

async function readEnds(folder: string): Promise<number[]> {
  const [generation, model] = await Promise.all([
    readJson(folder, "generation_config.json", generationSchema),
    readJson(folder, "config.json", generationSchema),
  ]);
  const named = [generation?.value, model?.value, model?.value.text_config].map(
    (it) => it?.eos_token_id ?? [],
  );
  return [...new Set(named.flat())].sort((a, b) => a - b);
}

function configTemplate(value: TokenizerConfig["chat_template"]): string | undefined {
  if (typeof value === "string") return value;
  return value?.find((entry) => entry.name === "default")?.template;
}

async function readJson<T>(
  folder: string,
  name: string,
  schema: z.ZodType<T>,
): Promise<{ text: string; value: T } | undefined> {
  const file = join(folder, name);
  const text = await readOptional(file);
  if (text === undefined) return undefined;
  const parsed = schema.safeParse(parseJson(text, file));
  if (parsed.success) return { text, value: parsed.data };
  throw new DataError(`${file} is not a ${name} that can be read: ${z.prettifyError(parsed.error)}`, {
    nextStep: "Save the tokenizer again with transformers (save_pretrained) or fetch the folder again.",
    facts: { file },
  });
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DataError(`${file} is not JSON.`, {
      nextStep: "Fetch the file again.",
      facts: { file },
      cause,
    });
  }
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw new DataError(`${file} cannot be read.`, { facts: { file }, cause });
  }
}

function missing(folder: string, what: string): DataError {
  return new DataError(`The model folder ${folder} has no ${what}.`, {
    nextStep:
      what === "chat template"
        ? "Use an instruction-tuned model, or put the template there as chat_template.jinja."
        : "Give the folder of a model saved with its tokenizer (tokenizer.json).",
    facts: { folder, missing: what },
  });
}
