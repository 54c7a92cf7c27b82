import { existsSync } from "node:fs";
import { DataError, PalateError } from "../errors.ts";
import { makeSnapshot, readRef, repoFolder, snapshotFolder, writeRef } from "./hub-cache.ts";
import { fillSnapshot, isCommit, resolveCommit } from "./hub-download.ts";
import { type HubSession, openSession } from "./hub-session.ts";
import { findToken } from "./hub-token.ts";

export interface HubOptions {
  /** Where snapshots are kept. */
  readonly cacheDir: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly fetch?: typeof globalThis.fetch;
  /** Before HF_ENDPOINT of `env`; default https://huggingface.co. */
  readonly hubUrl?: string;
  readonly warn?: (message: string) => void;
}

interface Target {
  readonly name: string;
  readonly revision: string;
}

/**
 * A release folder with the manifest and the data files of `owner/name[@revision]`, from the cache where the
 * commit is there whole, else downloaded. With HF_HUB_OFFLINE the network is left alone. DataError says
 * whether the data set is gated, not granted, missing or unreachable; no message holds the token.
 */
export async function fetchSnapshot(reference: string, options: HubOptions): Promise<string> {
  const env = options.env ?? process.env;
  const target = parseReference(reference);
  const repo = repoFolder(options.cacheDir, target.name);
  const held = await heldSnapshot(repo, target.revision);
  if (held !== undefined && (isCommit(target.revision) || isOffline(env))) return held;
  if (isOffline(env)) throw offlineError(target);
  const session = openSession({
    hubUrl: hubAddress(options.hubUrl ?? env["HF_ENDPOINT"]),
    name: target.name,
    token: await findToken(env),
    fetch: options.fetch ?? globalThis.fetch,
  });
  try {
    return await download(session, repo, target.revision);
  } catch (error) {
    if (held === undefined || !isUnreachable(error)) throw error;
    options.warn?.(`The hub could not be reached; ${reference} is read as it was found there last.`);
    return held;
  }
}

function parseReference(reference: string): Target {
  const match = /^([\w.-]+\/[\w.-]+)(?:@([\w./-]+))?$/.exec(reference);
  const name = match?.[1];
  if (name !== undefined && !reference.includes("..")) return { name, revision: match?.[2] ?? "main" };
  throw new DataError(`hub:${reference}: not the name of a data set on the hub.`, {
    nextStep: "Write hub:owner/name or hub:owner/name@revision.",
    facts: { source: `hub:${reference}` },
  });
}

async function heldSnapshot(repo: string, revision: string): Promise<string | undefined> {
  const commit = isCommit(revision) ? revision : await readRef(repo, revision);
  if (commit === undefined || !isCommit(commit)) return undefined;
  const folder = snapshotFolder(repo, commit);
  return existsSync(folder) ? folder : undefined;
}

function isOffline(env: NodeJS.ProcessEnv): boolean {
  return ["1", "true", "yes", "on"].includes((env["HF_HUB_OFFLINE"] ?? "").toLowerCase());
}

function offlineError({ name, revision }: Target): DataError {
  return new DataError(`HF_HUB_OFFLINE is set, and ${name}@${revision} is not in the cache.`, {
    nextStep: "Read it once with the network on, or unset HF_HUB_OFFLINE.",
    facts: { dataset: name, revision },
  });
}

function hubAddress(given: string | undefined): string {
  const address = given?.trim() || "https://huggingface.co";
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") {
    return address.replace(/\/+$/, "");
  }
  throw new DataError("The address of the hub (HF_ENDPOINT) is not an http address without a password.", {
    nextStep: "Unset HF_ENDPOINT, or set it to the address of a mirror.",
  });
}

function isUnreachable(error: unknown): boolean {
  return error instanceof PalateError && error.facts["unreachable"] === true;
}

async function download(session: HubSession, repo: string, revision: string): Promise<string> {
  const commit = await resolveCommit(session, revision);
  const folder = snapshotFolder(repo, commit);
  if (!existsSync(folder)) await makeSnapshot(folder, (draft) => fillSnapshot(session, commit, draft));
  if (commit !== revision) await writeRef(repo, revision, commit);
  return folder;
}
