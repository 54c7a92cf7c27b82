import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DataError, NotComparableError } from "../errors.ts";
import { type AuditReport, auditManifest } from "../folds/audit.ts";
import { buildManifest, DEFAULT_NEAR_DUPLICATE } from "../folds/build.ts";
import { type FoldManifest, formatManifest, parseManifest } from "../folds/manifest.ts";
import type { QuestionSet } from "../questions/schema.ts";
import { writeFileAtomic } from "../runs/atomic-file.ts";

export interface SplitOptions {
  readonly set: QuestionSet;
  readonly k: number;
  readonly seed: number;
  /** Jaccard index from which two task texts count as one. */
  readonly nearDuplicate: number;
}

/**
 * The split of a run. A given manifest is used as it is, with its own k and seed, after an audit on the data:
 * NotComparableError when it is for other data or lets knowledge cross. Without one it is built, not written.
 */
export async function loadOrBuildSplit({
  manifestFile,
  ...options
}: SplitOptions & { readonly manifestFile: string | null }): Promise<FoldManifest> {
  if (manifestFile === null) return buildSplit(options);
  const manifest = await readSplit(manifestFile);
  requireSound(auditManifest(manifest, options.set), { file: manifestFile });
  return manifest;
}

export function buildSplit({ set, k, seed, nearDuplicate }: SplitOptions): FoldManifest {
  return buildManifest({
    digest: set.digest,
    questions: set.questions,
    k,
    seed,
    nearDuplicate: { ...DEFAULT_NEAR_DUPLICATE, threshold: nearDuplicate },
  });
}

export async function readSplit(file: string): Promise<FoldManifest> {
  return parseManifest(await readText(file), { file });
}

interface SplitName {
  /** As the user named the questions. */
  readonly source: string;
  readonly k: number;
  readonly seed: number;
}

/** `folds/<data>.k<k>.s<seed>.json`; data is the last part of a path or name, without revision and suffix. */
export function defaultSplitFile({ source, k, seed }: SplitName): string {
  const [last = ""] = source
    .replace(/@[^/]*$/, "")
    .split(/[/\\:]+/)
    .filter(Boolean)
    .slice(-1);
  const data = last.replace(/\.(jsonl|jsonl\.gz|parquet)$/, "").replace(/[^\w.-]+/g, "-");
  return join("folds", `${data}.k${k}.s${seed}.json`);
}

/** Never replaces another split: committed manifests are what published scores rest on. */
export async function writeSplit(file: string, manifest: FoldManifest): Promise<"written" | "unchanged"> {
  const text = formatManifest(manifest);
  const present = await readFile(file, "utf8").catch(() => null);
  if (present === text) return "unchanged";
  if (present !== null) {
    throw new DataError(`${file} holds another split.`, {
      nextStep: "Give another --out, or remove the file if nothing was trained with it.",
      facts: { file },
    });
  }
  await writeFileAtomic(file, text);
  return "written";
}

/** Throws NotComparableError naming what is wrong first and how much else is. */
export function requireSound(report: AuditReport, { file }: { readonly file: string }): void {
  if (report.sound) return;
  const faults = describeFaults(report);
  throw new NotComparableError(`${file} fails its audit: ${faults.slice(0, SHOWN).join("; ")}.`, {
    nextStep: `See all with \`palate folds audit\`, and build a new manifest with \`palate folds build\`.`,
    facts: { file, faults },
  });
}

const SHOWN = 5;

/** One sentence a fault, without the full stop. */
export function describeFaults(report: AuditReport): readonly string[] {
  return [
    ...report.parted.map(
      (pair) =>
        `${pair.a} and ${pair.b} (${pair.kind}) are on two sides: folds ${pair.fold_a}, ${pair.fold_b}`,
    ),
    ...report.torn_tasks.map((task) => `the questions of task ${task} are not in the fold of their task`),
    ...report.missing.map((id) => `question ${id} is held out in no fold`),
    ...report.repeated.map((id) => `question ${id} is held out more than once`),
    ...report.unknown.map((id) => `question ${id} is not in the data`),
  ];
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new DataError(`${file} cannot be read.`, {
      nextStep: "Check the path, or build a manifest with `palate folds build`.",
      facts: { file },
      cause,
    });
  }
}
