import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../orchestrator/canonical.ts";
import { checkQuestions } from "../../orchestrator/questions/check.ts";
import { sharedFolder } from "../shared.ts";
import { caseFile, jsonl, question, read, refusal, temporaryFolder } from "./cases.ts";
import { type ManifestJson, releaseFiles, releaseFolder } from "./release-folder.ts";

const ENGINEERING = join("data", "engineering", "test-00000-of-00001.jsonl");

test("a release folder is read with all its domains", async () => {
  const { questions } = await read(await releaseFolder(releaseFiles()));
  expect(questions.map(({ domain }) => domain)).toEqual(["engineering", "research"]);
});

test("a release of one parquet file is read", async () => {
  const folder = await temporaryFolder();
  const parquet = await readFile(caseFile("03-int64-and-big-ids/int32.parquet"));
  await writeFile(join(folder, "test.parquet"), parquet);
  const files = releaseFiles((manifest) => {
    const entry = {
      path: "test.parquet",
      n_rows: 2,
      sha256: sha256Hex(parquet),
      cells: { detour_engineering: 2 },
    };
    Object.assign(manifest, { domains: { engineering: entry } });
  });
  await writeFile(join(folder, "export_manifest.json"), files.get("export_manifest.json") ?? "");
  expect((await read(folder)).questions).toHaveLength(2);
});

test("paths that leave the folder are refused, all at once, before any data file is opened", async () => {
  const { message } = await refusal(read(caseFile("leads/manifest-outside")));
  expect(message).toContain(
    'domains.engineering.path: must be a path inside the release folder, here "../../out',
  );
  expect(message).toContain(
    'domains.research.path: must be a path inside the release folder, here "/etc/hostname"',
  );
});

test.each([
  "data/../../x.jsonl",
  "C:/x.jsonl",
  "..\\x.jsonl",
  "",
  "./x.jsonl",
  "data//x.jsonl",
  "data/run.py",
])("the manifest path %j is refused", async (path) => {
  const change = (manifest: ManifestJson) => Object.assign(manifest.domains.engineering, { path });
  const { message } = await refusal(read(await releaseFolder(releaseFiles(change))));
  expect(message).toContain("domains.engineering.path");
});

test.each<[string, (manifest: ManifestJson) => void, string]>([
  [
    "an unknown key",
    (manifest) => Object.assign(manifest, { note: 1 }),
    "manifest, note: is not part of the format",
  ],
  [
    "an unknown domain",
    (manifest) => Object.assign(manifest.domains, { law: {} }),
    "domains.law: is not part",
  ],
  [
    "another schema version",
    (manifest) => Object.assign(manifest, { schema_version: 2 }),
    "manifest, schema_version",
  ],
  ["no domain", (manifest) => Object.assign(manifest, { domains: {} }), "manifest, domains: names no domain"],
  [
    "a wrong number of rows",
    ({ domains }) => Object.assign(domains.research, { n_rows: 3 }),
    "says 3, the data has 1",
  ],
  [
    "a wrong number in a cell",
    ({ domains }) => Object.assign(domains.research.cells, { detour_research: 1 }),
    "domains.research.cells.detour_research: says 1, the data has 0",
  ],
  ["another canary", (manifest) => Object.assign(manifest, { canary: "OTHER" }), "line 1, canary"],
])("a manifest with %s is refused", async (_, change, text) => {
  expect((await refusal(read(await releaseFolder(releaseFiles(change))))).message).toContain(text);
});

test("a row whose domain is not that of its file is refused", async () => {
  const change = ({ domains }: ManifestJson) => {
    [domains.engineering, domains.research] = [domains.research, domains.engineering];
  };
  const { message } = await refusal(read(await releaseFolder(releaseFiles(change))));
  expect(message).toContain("is research in the file of engineering");
});

test("an id that stands in two files of a release is refused", async () => {
  const files = releaseFiles();
  const text = jsonl([question({ domain: "research", method: "parallel", cell: "parallel_research" })]);
  const manifest = JSON.parse(files.get("export_manifest.json") ?? "");
  manifest.domains.research.sha256 = sha256Hex(text);
  files.set(manifest.domains.research.path, text).set("export_manifest.json", JSON.stringify(manifest));
  expect((await refusal(read(await releaseFolder(files)))).message).toMatch(
    /stands already in .*engineering/,
  );
});

test("a data file that changed by one byte is refused with both hashes", async () => {
  const folder = await releaseFolder(releaseFiles());
  const text = await readFile(join(folder, ENGINEERING), "utf8");
  await writeFile(join(folder, ENGINEERING), text.replace("log first", "log First"));
  const error = await refusal(read(folder));
  expect(error.message).toContain(`the manifest says ${sha256Hex(text)}`);
  expect(error.message).not.toContain("line ends");
});

test("a data file with CR LF is refused, and the message says that the LF form would match", async () => {
  const folder = await releaseFolder(releaseFiles());
  const text = await readFile(join(folder, ENGINEERING), "utf8");
  await writeFile(join(folder, ENGINEERING), text.replaceAll("\n", "\r\n"));
  expect((await refusal(read(folder))).message).toContain(
    "With LF line ends in place of CR LF it would match",
  );
});

test("a data file that the manifest names and the folder lacks is an error", async () => {
  const folder = await releaseFolder(releaseFiles());
  await rm(join(folder, ENGINEERING));
  expect((await refusal(read(folder))).message).toContain("it is not there");
});

const forks = sharedFolder("data/forks-mini");

describe.skipIf(forks === undefined)("real forks (skipped where the shared data is absent)", () => {
  const folder = forks ?? "";

  test("parquet and JSONL of the same release give the same digest", async () => {
    const release = await read(folder);
    const rows = await read(join(folder, "questions.jsonl"));
    expect(release.digest).toBe(rows.digest);
    expect(checkQuestions(release)).toMatchObject({
      questions: 91,
      tasks: 81,
      cells: { detour_engineering: 24, detour_research: 11, parallel_engineering: 36, parallel_research: 20 },
    });
  });

  test("a parquet file of the release is read alone", async () => {
    const [file] = await readdir(join(folder, "data", "research"));
    expect((await read(join(folder, "data", "research", file ?? ""))).questions).toHaveLength(31);
  });

  test("a release with a cut parquet file is refused", async () => {
    const copy = await temporaryFolder();
    await cp(join(folder, "export_manifest.json"), join(copy, "export_manifest.json"));
    await cp(join(folder, "data"), join(copy, "data"), { recursive: true });
    const file = join(copy, "data", "research", "test-00000-of-00001.parquet");
    const bytes = await readFile(file);
    await rm(file, { force: true });
    await writeFile(file, bytes.subarray(0, 1000));
    expect((await refusal(read(copy))).message).toContain("its sha256 is");
  });
});
