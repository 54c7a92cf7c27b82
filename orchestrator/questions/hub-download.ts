import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { datasetInfo, downloadFile } from "@huggingface/hub";
import { DataError, PalateError } from "../errors.ts";
import type { HubSession } from "./hub-session.ts";
import { MANIFEST_FILE, manifestEntries, readManifest } from "./manifest.ts";
import { checkHash } from "./release.ts";

const COMMIT = /^[0-9a-f]{40}$/;

/**
 * The commit that a branch or tag names now. It may move between two requests, so that every file is asked for
 * by commit.
 */
export async function resolveCommit(session: HubSession, revision: string): Promise<string> {
  const { sha } = await answered(session, () =>
    datasetInfo({ ...access(session), name: session.name, revision, additionalFields: ["sha"] }),
  );
  if (isCommit(sha)) return sha;
  throw new DataError(`The hub at ${session.hubUrl} gave no commit for ${session.name}@${revision}.`, {
    nextStep: "Check HF_ENDPOINT: this may not be a hub.",
    facts: { dataset: session.name, revision },
  });
}

export function isCommit(revision: string): boolean {
  return COMMIT.test(revision);
}

/** Downloads the manifest and the data files that it names into `draft`, and checks their hashes. */
export async function fillSnapshot(session: HubSession, commit: string, draft: string): Promise<void> {
  const shown = `hub:${session.name}@${commit}`;
  await downloadTo(session, { commit, path: MANIFEST_FILE, draft });
  const manifest = await readManifest(join(draft, MANIFEST_FILE), join(shown, MANIFEST_FILE));
  for (const entry of manifestEntries(manifest)) {
    await downloadTo(session, { commit, path: entry.path, draft });
    await checkHash(draft, entry, shown);
  }
}

interface RemoteFile {
  readonly commit: string;
  readonly path: string;
  readonly draft: string;
}

async function downloadTo(session: HubSession, { commit, path, draft }: RemoteFile): Promise<void> {
  const blob = await answered(session, () =>
    downloadFile({
      ...access(session),
      repo: { type: "dataset", name: session.name },
      // The client puts the path into the address as it is.
      path: path.split("/").map(encodeURIComponent).join("/"),
      revision: commit,
      // Plain HTTP works through mirrors and proxies, the xet protocol does not.
      xet: false,
    }),
  );
  if (blob === null) throw absentFile(session, path, commit);
  const file = join(draft, path);
  await mkdir(dirname(file), { recursive: true });
  await saveBlob(blob, file).catch((error: unknown) => {
    throw session.lastFailure() ?? cutFile(session, path, error);
  });
}

async function saveBlob(blob: Blob, file: string): Promise<void> {
  const output = createWriteStream(file, { flags: "wx" });
  await pipeline(Readable.from(chunksOf(blob)), output);
  if (output.bytesWritten === blob.size) return;
  throw new RangeError(`${output.bytesWritten} bytes of ${blob.size}`);
}

async function* chunksOf(blob: Blob): AsyncGenerator<Uint8Array> {
  const reader = blob.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

function absentFile(session: HubSession, path: string, commit: string): DataError {
  const what = path === MANIFEST_FILE ? "so it is not laid out as a release" : "though its manifest names it";
  return new DataError(`hub:${session.name}@${commit} has no file ${path}, ${what}.`, {
    nextStep: "Check the name and the revision of the data set.",
    facts: { dataset: session.name, file: path },
  });
}

function cutFile(session: HubSession, path: string, error: unknown): DataError {
  const reason = reasonOf(error, session);
  return new DataError(`${path} of hub:${session.name} could not be saved whole: ${reason}.`, {
    nextStep: "Check the network and the space on the disk, then run the same command again.",
    facts: { dataset: session.name, file: path },
  });
}

function access({ hubUrl, fetch, token }: HubSession) {
  return { hubUrl, fetch, ...(token === undefined ? {} : { accessToken: token.value }) };
}

/** Runs a call of the client; what it throws besides our own errors is an answer that no hub gives. */
async function answered<T>(session: HubSession, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PalateError) throw error;
    throw session.lastFailure() ?? strangeAnswer(session, error);
  }
}

function strangeAnswer(session: HubSession, error: unknown): DataError {
  const { hubUrl, name } = session;
  const reason = reasonOf(error, session);
  return new DataError(`The hub at ${hubUrl} gave an answer for ${name} that is not understood: ${reason}`, {
    nextStep: "Check HF_ENDPOINT and the network, then run the same command again.",
    facts: { dataset: name },
  });
}

/** Text of a foreign error, in which a server may have repeated the token. */
function reasonOf(error: unknown, { token }: HubSession): string {
  const text = error instanceof Error ? error.message : String(error);
  return token === undefined ? text : text.replaceAll(token.value, "(token)");
}
