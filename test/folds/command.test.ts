import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import yargs from "yargs";
import { foldsCommand } from "../../orchestrator/commands/folds.ts";
import { EXIT } from "../../orchestrator/errors.ts";
import { parseManifest } from "../../orchestrator/folds/manifest.ts";
import { defaultSplitFile, loadOrBuildSplit } from "../../orchestrator/stages/split.ts";
import { casePath, readCase, splitOf } from "./fixture.ts";

let folder: string;
let printed: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "palate-folds-"));
  printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

async function palate(...args: readonly string[]): Promise<void> {
  await yargs([...args])
    .command(foldsCommand)
    .strict()
    .fail(false)
    .exitProcess(false)
    .parseAsync();
}

const SOURCE = casePath("05-same-issue-two-tasks/questions.jsonl");

test("build writes the manifest, and building again leaves it as it is", async () => {
  const out = join(folder, "folds", "x.json");
  await palate("folds", "build", SOURCE, "--out", out);
  const first = await readFile(out);
  await palate("folds", "build", SOURCE, "--out", out);
  expect(await readFile(out)).toEqual(first);
  expect(await readdir(join(folder, "folds"))).toEqual(["x.json"]);
  expect(printed).toContain("linked    acme__widget-205  acme__widget-206   same issue text");
});

test("build does not replace another split", async () => {
  const out = join(folder, "x.json");
  await palate("folds", "build", SOURCE, "--out", out);
  await expect(palate("folds", "build", SOURCE, "--out", out, "--k", "3")).rejects.toThrow(
    "holds another split",
  );
});

test("show prints what was built as JSON", async () => {
  const out = join(folder, "x.json");
  await palate("folds", "build", SOURCE, "--out", out, "--seed", "7");
  printed = "";
  await palate("folds", "show", out, "--json");
  expect(parseManifest(printed, { file: "stdout" })).toMatchObject({ seed: 7, k: 2 });
});

test("flags that make no split are refused", async () => {
  const run = palate("folds", "build", SOURCE, "--k", "1", "--near-duplicate", "0");
  await expect(run).rejects.toMatchObject({
    exitCode: EXIT.usage,
    message: expect.stringContaining("--k 1"),
  });
});

async function partedManifest(): Promise<string> {
  const set = await readCase("05-same-issue-two-tasks/questions.jsonl");
  const alone = set.questions.map((question) => ({ ...question, query: `Task ${question.task_id}.` }));
  const manifest = splitOf(alone, { digest: set.digest, seed: 1 });
  const file = join(folder, "parted.json");
  await writeFile(file, JSON.stringify(manifest));
  return file;
}

test("audit prints its report and fails when a linked pair is parted", async () => {
  const file = await partedManifest();
  await expect(palate("folds", "audit", file, SOURCE, "--json")).rejects.toMatchObject({
    exitCode: EXIT.notComparable,
    message: expect.stringContaining("(same_issue) are on two sides"),
  });
  expect(JSON.parse(printed)).toMatchObject({ sound: false, torn_tasks: [], missing: [] });
});

test("a run refuses a given manifest that fails its audit", async () => {
  const manifestFile = await partedManifest();
  const set = await readCase("05-same-issue-two-tasks/questions.jsonl");
  await expect(
    loadOrBuildSplit({ set, k: 2, seed: 0, nearDuplicate: 0.8, manifestFile }),
  ).rejects.toMatchObject({
    exitCode: EXIT.notComparable,
  });
});

test("a run uses a given manifest with its own seed", async () => {
  const set = await readCase("05-same-issue-two-tasks/questions.jsonl");
  const manifestFile = join(folder, "x.json");
  await palate("folds", "build", SOURCE, "--out", manifestFile, "--seed", "7");
  const manifest = await loadOrBuildSplit({ set, k: 2, seed: 0, nearDuplicate: 0.8, manifestFile });
  expect(manifest.seed).toBe(7);
});

test.each([
  ["data/forks.jsonl.gz", "folds/forks.k2.s0.json"],
  ["hub:owner/taste-bench@v1.0", "folds/taste-bench.k2.s0.json"],
  ["bundled:control", "folds/control.k2.s0.json"],
  ["./my data/", "folds/my-data.k2.s0.json"],
])("the default file of %s is %s", (source, file) => {
  expect(defaultSplitFile({ source, k: 2, seed: 0 })).toBe(join(file));
});
