import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatManifest } from "../../orchestrator/folds/manifest.ts";
import { casePath, readCase, splitOf } from "./fixture.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Inside node_modules, so that the compiled files find their packages. */
const CACHE = join(ROOT, "node_modules", ".cache");
let folder: string;

beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true });
  folder = mkdtempSync(join(CACHE, "folds-locale-"));
  const files = [join(ROOT, "orchestrator/folds/build.ts")];
  const compilerOptions = { rootDir: join(ROOT, "orchestrator"), outDir: folder, declaration: false };
  const config = join(folder, "tsconfig.json");
  const base = join(ROOT, "tsconfig.build.json");
  writeFileSync(config, JSON.stringify({ extends: base, compilerOptions, files, include: [] }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "split.mjs"), PROGRAM);
  await execa(join(ROOT, "node_modules/.bin/tsc"), ["-p", config]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
import { readFileSync } from "node:fs";
import { buildManifest } from "./folds/build.js";
import { formatManifest } from "./folds/manifest.js";
const questions = readFileSync(process.argv[2], "utf8").split("\\n").filter(Boolean).map((line) => JSON.parse(line));
const nearDuplicate = { threshold: 0.8, shingle: 13 };
process.stdout.write(formatManifest(buildManifest({ digest: "0".repeat(64), questions, k: 2, seed: 0, nearDuplicate })));
`;

test.each(["C", "tr_TR.UTF-8", "sv_SE.UTF-8"])(
  "a process under LANG=%s writes the same manifest",
  async (LANG) => {
    const { questions } = await readCase("06-fold-ties/given-order.jsonl");
    const file = casePath("06-fold-ties/shuffled.jsonl");
    const env = { LANG, LC_ALL: LANG };
    const { stdout } = await execa(process.execPath, ["split.mjs", file], {
      cwd: folder,
      env,
      stripFinalNewline: false,
    });
    expect(stdout).toBe(formatManifest(splitOf(questions)));
  },
);
