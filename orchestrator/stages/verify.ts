import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import { readRun } from "../runs/run-file.ts";
import { sha256File } from "../runs/sha256-file.ts";
import { readStageResult, stageFolder } from "../runs/stage-store.ts";

export interface VerifyReport {
  readonly run: string;
  readonly stages: number;
  readonly files: number;
  /** One sentence a fault; empty = everything is what its hashes say. */
  readonly faults: readonly string[];
}

/** Recomputes the key of every stage of a run from its spec, and the sha256 of every file it left. */
export async function verifyRun(checkpoints: string, name: string): Promise<VerifyReport> {
  const run = await readRun(checkpoints, name);
  const faults: string[] = [];
  let files = 0;
  for (const { stage, key, label } of run.stages) {
    const folder = stageFolder(checkpoints, stage, key);
    const result = await readStageResult(folder);
    if (result === undefined) {
      faults.push(`${label}: has no result`);
      continue;
    }
    faults.push(...(await specFaults({ folder, key, label })));
    for (const [file, sha256] of Object.entries(result.files)) {
      files += 1;
      faults.push(...(await fileFaults({ file: join(folder, file), sha256, label })));
    }
  }
  return { run: run.name, stages: run.stages.length, files, faults };
}

async function specFaults({
  folder,
  key,
  label,
}: Record<"folder" | "key" | "label", string>): Promise<string[]> {
  const spec: unknown = JSON.parse(await readFile(join(folder, "spec.json"), "utf8"));
  return sha256Hex(canonicalJson(spec)) === key ? [] : [`${label}: spec.json does not give its key`];
}

async function fileFaults({
  file,
  sha256,
  label,
}: Record<"file" | "sha256" | "label", string>): Promise<string[]> {
  if (!existsSync(file)) return [`${label}: ${file} is missing`];
  return (await sha256File(file)) === sha256 ? [] : [`${label}: ${file} has changed`];
}
