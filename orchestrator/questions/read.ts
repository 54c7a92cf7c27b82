import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DataError } from "../errors.ts";
import { packageRoot } from "../package-root.ts";
import { questionsDigest } from "./digest.ts";
import { fetchSnapshot, type HubOptions } from "./hub.ts";
import { MANIFEST_FILE } from "./manifest.ts";
import { readReasons } from "./reasons.ts";
import { openRelease, type Release } from "./release.ts";
import { readRows } from "./rows.ts";
import type { QuestionSet } from "./schema.ts";
import { validateRows } from "./validate.ts";
import { questionWarnings } from "./warnings.ts";

export type ReadOptions = HubOptions;

interface LocalSet extends Partial<Pick<Release, "checkCounts">>, Pick<Release, "rows"> {
  readonly folder: string;
}

const BUNDLED = new Map([["control", join("data", "control")]]);

/** Sources that are not paths: each gives the folder or file to read. */
const PLACES: readonly (readonly [
  prefix: string,
  locate: (name: string, options: ReadOptions) => Promise<string>,
])[] = [
  ["hub:", fetchSnapshot],
  ["bundled:", locateBundled],
];

/**
 * Reads and validates a question set: a release folder, a folder with questions.jsonl, one .parquet, .jsonl
 * or .jsonl.gz file, `hub:owner/name[@revision]` or `bundled:name`. reasons.jsonl beside the data is read
 * with it. DataError names file, row and column of every fault (the first ten in words).
 */
export async function readQuestions(source: string, options: ReadOptions): Promise<QuestionSet> {
  const place = PLACES.find(([prefix]) => source.startsWith(prefix));
  const path = place === undefined ? source : await place[1](source.slice(place[0].length), options);
  const { rows, folder, checkCounts } = await openLocal(path);
  const questions = await validateRows(rows, path);
  checkCounts?.(questions);
  const reasons = await readReasons(join(folder, "reasons.jsonl"), questions);
  for (const warning of questionWarnings(questions)) options.warn?.(warning);
  return { source, digest: questionsDigest(questions), questions, reasons };
}

async function openLocal(path: string): Promise<LocalSet> {
  const kind = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (!kind.isDirectory()) return { rows: readRows(path), folder: dirname(path) };
  if (existsSync(join(path, MANIFEST_FILE))) return { ...(await openRelease(path)), folder: path };
  const file = join(path, "questions.jsonl");
  if (existsSync(file)) return { rows: readRows(file), folder: path };
  throw new DataError(`${path}: the folder has neither ${MANIFEST_FILE} nor questions.jsonl.`, {
    nextStep: "Give a release folder, or one data file.",
    facts: { file: path },
  });
}

function unreadable(path: string, error: unknown): DataError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  const absent = code === "ENOENT" || code === "ENOTDIR";
  const hub = /^[\w.-]+\/[\w.-]+(@.+)?$/.test(path) ? ` A data set on the hub is written hub:${path}.` : "";
  return new DataError(`${path}: ${absent ? "there is no such file or folder" : `not readable (${code})`}.`, {
    nextStep: `Check the path.${hub}`,
    facts: { file: path, code },
  });
}

async function locateBundled(name: string): Promise<string> {
  const folder = BUNDLED.get(name);
  if (folder !== undefined) return join(packageRoot(), folder);
  throw new DataError(`bundled:${name}: no question set of this name comes with Palate.`, {
    nextStep: `Bundled sets: ${[...BUNDLED.keys()].map((known) => `bundled:${known}`).join(", ")}.`,
    facts: { source: `bundled:${name}` },
  });
}
