import type { ArgumentsCamelCase, CommandModule } from "yargs";
import { cacheFolder } from "../cache-folder.ts";
import { UsageError } from "../errors.ts";
import type { AuditReport } from "../folds/audit.ts";
import type { FoldManifest, Overlap } from "../folds/manifest.ts";
import type { QuestionSet } from "../questions/schema.ts";

interface BuildArguments {
  readonly source: string;
  readonly k: number;
  readonly seed: number;
  readonly "near-duplicate": number;
  readonly out: string | undefined;
  readonly json: boolean;
}

interface ShowArguments {
  readonly manifest: string;
  readonly json: boolean;
}

interface AuditArguments extends ShowArguments {
  readonly source: string;
}

const SOURCE = {
  type: "string",
  demandOption: true,
  describe: "Release folder, .parquet, .jsonl, .jsonl.gz, hub:owner/name@revision or bundled:control",
} as const;
const MANIFEST = { type: "string", demandOption: true, describe: "Fold manifest, JSON" } as const;
const JSON_FLAG = { type: "boolean", default: false, describe: "Print JSON" } as const;

/** `palate folds`: builds, shows and audits task-disjoint splits. */
export const foldsCommand: CommandModule = {
  command: "folds",
  describe: "Build, show and audit task-disjoint splits",
  builder: (yargs) =>
    yargs
      .command(buildSubcommand())
      .command(showSubcommand())
      .command(auditSubcommand())
      .demandCommand(1, "Say what to do: build, show or audit."),
  handler: () => undefined,
};

function buildSubcommand(): CommandModule<object, BuildArguments> {
  return {
    command: "build <source>",
    describe: "Split a question set into folds that share no task, issue or near-duplicate text",
    builder: (yargs) =>
      yargs
        .positional("source", SOURCE)
        .option("k", { type: "number", default: 2, describe: "Folds" })
        .option("seed", { type: "number", default: 0, describe: "Another seed, another split" })
        .option("near-duplicate", {
          type: "number",
          default: 0.8,
          describe: "Jaccard index of word 13-grams from which two task texts count as one, above 0 to 1",
        })
        .option("out", { type: "string", describe: "File to write; default folds/<data>.k<k>.s<seed>.json" })
        .option("json", JSON_FLAG),
    handler: build,
  };
}

function showSubcommand(): CommandModule<object, ShowArguments> {
  return {
    command: "show <manifest>",
    describe: "Print a split: sizes, cells, and the tasks that were joined and why",
    builder: (yargs) => yargs.positional("manifest", MANIFEST).option("json", JSON_FLAG),
    handler: show,
  };
}

function auditSubcommand(): CommandModule<object, AuditArguments> {
  return {
    command: "audit <manifest> <source>",
    describe: "Check a split against its data; exit code 3 when knowledge can cross",
    builder: (yargs) =>
      yargs.positional("manifest", MANIFEST).positional("source", SOURCE).option("json", JSON_FLAG),
    handler: audit,
  };
}

async function build(args: ArgumentsCamelCase<BuildArguments>): Promise<void> {
  const { source, k, seed, nearDuplicate } = args;
  requireSplitFlags({ k, seed, nearDuplicate });
  const { buildSplit, defaultSplitFile, writeSplit } = await import("../stages/split.ts");
  const manifest = buildSplit({ set: await read(source), k, seed, nearDuplicate });
  const file = args.out ?? defaultSplitFile({ source, k, seed });
  const outcome = await writeSplit(file, manifest);
  print(
    args.json
      ? JSON.stringify({ file, outcome, manifest }, null, 2)
      : `${file}: ${outcome}\n${manifestText(manifest)}`,
  );
}

async function show({ manifest: file, json }: ArgumentsCamelCase<ShowArguments>): Promise<void> {
  const { readSplit } = await import("../stages/split.ts");
  const manifest = await readSplit(file);
  print(json ? JSON.stringify(manifest, null, 2) : manifestText(manifest));
}

async function audit({ manifest: file, source, json }: ArgumentsCamelCase<AuditArguments>): Promise<void> {
  const { describeFaults, readSplit, requireSound } = await import("../stages/split.ts");
  const { auditManifest } = await import("../folds/audit.ts");
  const report = auditManifest(await readSplit(file), await read(source));
  print(json ? JSON.stringify(report, null, 2) : auditText(report, describeFaults(report)));
  requireSound(report, { file });
}

function requireSplitFlags({
  k,
  seed,
  nearDuplicate,
}: {
  k: number;
  seed: number;
  nearDuplicate: number;
}): void {
  const wrong = [
    Number.isSafeInteger(k) && k >= 2 ? [] : [`--k ${k} is no whole number of 2 or more`],
    Number.isSafeInteger(seed) && seed >= 0 ? [] : [`--seed ${seed} is no whole number of 0 or more`],
    nearDuplicate > 0 && nearDuplicate <= 1 ? [] : [`--near-duplicate ${nearDuplicate} is not above 0 to 1`],
  ].flat();
  if (wrong.length === 0) return;
  throw new UsageError(`${wrong.join("; ")}.`, { nextStep: "See `palate folds build --help`." });
}

async function read(source: string): Promise<QuestionSet> {
  const { readQuestions } = await import("../questions/read.ts");
  const warn = (message: string) => void process.stderr.write(`warning: ${message}\n`);
  return readQuestions(source, { cacheDir: cacheFolder(), env: process.env, warn });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function manifestText({ data_digest, k, seed, groups, folds, audit: found }: FoldManifest): string {
  const joins = groups.flatMap((group) => group.joins);
  return [
    `data      ${data_digest.slice(0, 12)}   k ${k}   seed ${seed}   groups ${groups.length}`,
    ...folds.map(
      ({ fold, n, n_tasks, cells }) =>
        `fold ${String(fold).padEnd(4)} ${n} questions, ${n_tasks} tasks   ${cells.map((cell) => `${cell.cell} ${cell.n}`).join(", ")}`,
    ),
    ...joins.map((join) => `linked    ${join.a}  ${join.b}   ${reason(join)}`),
    overlapText(found.largest_overlap),
    `template  ${found.template.runs} word runs, in ${found.template.tasks} tasks, left out of the comparison`,
  ].join("\n");
}

function reason(join: FoldManifest["groups"][number]["joins"][number]): string {
  return join.kind === "same_issue" ? "same issue text" : `near duplicate, ${join.jaccard}`;
}

function overlapText(overlap: Overlap | null): string {
  if (overlap === null) return "overlap   no word run is on two sides";
  return `overlap   ${overlap.jaccard} at most across sides (${overlap.own_jaccard} without templates): ${overlap.a}  ${overlap.b}`;
}

function auditText(report: AuditReport, faults: readonly string[]): string {
  return [
    ...report.folds.map(
      ({ fold, n, n_tasks }) => `fold ${String(fold).padEnd(4)} ${n} questions, ${n_tasks} tasks`,
    ),
    overlapText(report.largest_overlap),
    ...faults.map((fault) => `fault     ${fault}`),
    report.sound ? "sound" : `not sound: ${faults.length} faults`,
  ].join("\n");
}
