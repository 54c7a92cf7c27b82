import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "../canonical.ts";
import { DataError } from "../errors.ts";
import { type Fault, faultsError } from "./faults.ts";
import {
  MANIFEST_FILE,
  type Manifest,
  type ManifestEntry,
  manifestEntries,
  readManifest,
} from "./manifest.ts";
import { readRows } from "./rows.ts";
import type { Question } from "./schema.ts";
import type { ClaimedRow } from "./validate.ts";

export interface Release {
  readonly rows: AsyncIterable<ClaimedRow>;
  /** DataError where the numbers of rows are not those of the manifest. */
  readonly checkCounts: (questions: readonly Question[]) => void;
}

/** A release folder whose data files have the hashes of its manifest. */
export async function openRelease(folder: string): Promise<Release> {
  const file = join(folder, MANIFEST_FILE);
  const manifest = await readManifest(file);
  for (const entry of manifestEntries(manifest)) await checkHash(folder, entry);
  return {
    rows: claimedRows(folder, manifest),
    checkCounts: (questions) => checkCounts(file, manifest, questions),
  };
}

async function* claimedRows(folder: string, manifest: Manifest): AsyncGenerator<ClaimedRow> {
  for (const { domain, path } of manifestEntries(manifest)) {
    const claim = { domain, canary: manifest.canary };
    for await (const row of readRows(join(folder, path))) yield { ...row, claim };
  }
}

/** DataError, naming the file as in folder `shown`, where it is absent or not what the manifest says. */
export async function checkHash(
  folder: string,
  { path, sha256 }: Pick<ManifestEntry, "path" | "sha256">,
  shown = folder,
): Promise<void> {
  const file = join(folder, path);
  const name = join(shown, path);
  if (!existsSync(file)) {
    throw new DataError(`${name}: the manifest names this file, but it is not there.`, {
      nextStep: "Download the whole release again.",
      facts: { file: name },
    });
  }
  const found = await fileSha256(file);
  if (found === sha256) return;
  const lineEnds = (await lineFeedSha256(file)) === sha256;
  const hint = lineEnds ? " With LF line ends in place of CR LF it would match." : "";
  throw new DataError(`${name}: its sha256 is ${found}, the manifest says ${sha256}.${hint}`, {
    nextStep: "Download the file again, without conversion of line ends.",
    facts: { file: name, sha256: found, expected: sha256, line_ends_differ: lineEnds },
  });
}

async function fileSha256(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

async function lineFeedSha256(file: string): Promise<string | undefined> {
  if (!file.endsWith(".jsonl")) return undefined;
  const bytes = await readFile(file, "latin1");
  return sha256Hex(Buffer.from(bytes.replaceAll("\r\n", "\n"), "latin1"));
}

function checkCounts(file: string, manifest: Manifest, questions: readonly Question[]): void {
  const faults: Fault[] = [];
  for (const { domain, n_rows, cells } of manifestEntries(manifest)) {
    const found = new Map(Object.keys(cells).map((cell) => [cell, 0]));
    const rows = questions.filter((question) => question.domain === domain);
    for (const { cell } of rows) found.set(cell, (found.get(cell) ?? 0) + 1);
    const compare = (column: string, said: number, counted: number) => {
      if (said === counted) return;
      faults.push({
        file,
        at: "manifest",
        columns: [column],
        message: `says ${said}, the data has ${counted}`,
      });
    };
    compare(`domains.${domain}.n_rows`, n_rows, rows.length);
    for (const [cell, counted] of found) {
      compare(`domains.${domain}.cells.${cell}`, new Map(Object.entries(cells)).get(cell) ?? 0, counted);
    }
  }
  if (faults.length > 0) throw faultsError(faults, "Take the manifest and the data from the same release.");
}
