import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Where the snapshots of one data set lie: `snapshots/<commit>/`, and `refs/<revision>` holding a commit. */
export function repoFolder(cacheDir: string, name: string): string {
  return join(cacheDir, "hub", `datasets--${name.replace("/", "--")}`);
}

/** Folder of a commit, whether it is there or not. It only ever appears whole. */
export function snapshotFolder(repo: string, commit: string): string {
  return join(repo, "snapshots", commit);
}

/** The commit that a revision was last resolved to. */
export async function readRef(repo: string, revision: string): Promise<string | undefined> {
  const text = await readFile(refFile(repo, revision), "utf8").catch(() => undefined);
  return text?.trim();
}

export async function writeRef(repo: string, revision: string, commit: string): Promise<void> {
  const file = refFile(repo, revision);
  const draft = `${file}.${randomUUID()}.tmp`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(draft, `${commit}\n`);
  await rename(draft, file);
}

/** Makes a snapshot by `fill` in a folder of its own, then renames it: nothing half-made is ever taken as whole. */
export async function makeSnapshot(folder: string, fill: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${folder}.${randomUUID()}.tmp`;
  await mkdir(draft, { recursive: true });
  try {
    await fill(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have made the same snapshot meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

function refFile(repo: string, revision: string): string {
  return join(repo, "refs", encodeURIComponent(revision));
}
