import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type StageResult, stageResultSchema } from "../bridge/protocol.ts";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import { RunError } from "../errors.ts";
import { writeJsonAtomic } from "./atomic-file.ts";

/** What a stage is, apart from where and how it runs (design section 6). */
export interface StageSpec {
  readonly stage: string;
  /** Raised in stages/code-versions.ts when the same inputs would give another result. */
  readonly code_version: number;
  readonly parameters: unknown;
  /** Keys of stages and digests of data this stage reads. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly base: string;
  readonly tokenizer: string;
  readonly seed: number;
}

/** sha256 over the canonical JSON of the spec; a value with no stable form throws. */
export function stageKey(spec: StageSpec): string {
  return sha256Hex(canonicalJson(spec));
}

export function stageFolder(checkpoints: string, stage: string, key: string): string {
  return join(checkpoints, "stages", `${stage}-${key}`);
}

export async function writeSpec(folder: string, spec: StageSpec): Promise<void> {
  const file = join(folder, "spec.json");
  if (!existsSync(file)) await writeJsonAtomic(file, spec);
}

/** The result of a finished stage; `undefined` when it has not finished. */
export async function readStageResult(folder: string): Promise<StageResult | undefined> {
  const file = join(folder, "result.json");
  if (!existsSync(file)) return undefined;
  const parsed = stageResultSchema.safeParse(JSON.parse(await readFile(file, "utf8")));
  if (parsed.success) return parsed.data;
  throw new RunError(`${file} is not the result of a stage: ${parsed.error.issues[0]?.message}`, {
    nextStep: "Remove this stage folder; the stage is then computed again.",
    facts: { file },
  });
}
