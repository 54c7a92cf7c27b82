import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { DataError } from "../errors.ts";

export interface HubToken {
  /** Never to be printed. */
  readonly value: string;
  /** Where it stands, for messages. */
  readonly origin: string;
}

/**
 * The hub token where huggingface_hub would look: HF_TOKEN, then the file HF_TOKEN_PATH, then `token` in
 * HF_HOME or ~/.cache/huggingface. White space and a byte-order mark around it are removed. DataError, which
 * does not quote it, for a token that no hub can have given out.
 */
export async function findToken(env: NodeJS.ProcessEnv): Promise<HubToken | undefined> {
  const given = clean(env["HF_TOKEN"] ?? "");
  if (given !== "") return checked({ value: given, origin: "HF_TOKEN" });
  const file = tokenFile(env);
  const stored = clean(await readFile(file, "utf8").catch(() => ""));
  return stored === "" ? undefined : checked({ value: stored, origin: file });
}

function tokenFile(env: NodeJS.ProcessEnv): string {
  const cache = env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache");
  return env["HF_TOKEN_PATH"] || join(env["HF_HOME"] || join(cache, "huggingface"), "token");
}

function clean(text: string): string {
  // trim() takes U+FEFF for white space.
  return text.trim();
}

function checked(token: HubToken): HubToken {
  if (/^hf_[\x21-\x7e]+$/.test(token.value)) return token;
  throw new DataError(
    `The token in ${token.origin} is not valid: a hub token is hf_ and then plain letters.`,
    {
      nextStep: "Copy the token again from the settings of your account, or remove it.",
      facts: { origin: token.origin },
    },
  );
}
