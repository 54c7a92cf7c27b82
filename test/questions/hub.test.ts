import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readQuestions } from "../../orchestrator/questions/read.ts";
import { read, refusal, temporaryFolder } from "./cases.ts";
import { startHub } from "./hub-server.ts";
import { releaseFiles, releaseFolder } from "./release-folder.ts";

const NO_TOKEN = { HF_TOKEN_PATH: "/nonexistent/token" };

async function hub(files = releaseFiles()) {
  const server = await startHub(new Map([...files, ["eval.yaml", "x: 1\n"], ["README.md", "# forks\n"]]));
  const cacheDir = await temporaryFolder();
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const readHub = (source: string, env: NodeJS.ProcessEnv = {}) =>
    readQuestions(source, { cacheDir, hubUrl: server.url, env: { ...NO_TOKEN, ...env }, warn });
  const cached = async () => (await readdir(cacheDir, { recursive: true })).sort();
  return { ...server, readHub, cached, cacheDir, warnings };
}

test("a release on the hub gives the digest of its folder", async () => {
  const { readHub } = await hub();
  const set = await readHub("hub:acme/forks@v1.0");
  expect(set.source).toBe("hub:acme/forks@v1.0");
  expect(set.digest).toBe((await read(await releaseFolder(releaseFiles()))).digest);
});

test("only the manifest and the files that it names are downloaded, all by commit", async () => {
  const { readHub, requests, dataset } = await hub();
  await readHub("hub:acme/forks");
  const files = requests.filter((request) => request.includes("/resolve/"));
  expect(files.every((request) => request.includes(`/resolve/${dataset.commit}/`))).toBe(true);
  expect(new Set(files.map((request) => request.split("/").at(-1)))).toEqual(
    new Set(["export_manifest.json", "test-00000-of-00001.jsonl"]),
  );
});

test("a snapshot that is whole is not downloaded again", async () => {
  const { readHub, requests } = await hub();
  await readHub("hub:acme/forks@v1.0");
  requests.length = 0;
  await readHub("hub:acme/forks@main");
  expect(requests.map((request) => request.split("?")[0])).toEqual([
    "GET /api/datasets/acme/forks/revision/main",
  ]);
});

test("a commit that is in the cache is read without any request", async () => {
  const { readHub, requests, dataset } = await hub();
  await readHub("hub:acme/forks");
  requests.length = 0;
  await readHub(`hub:acme/forks@${dataset.commit}`);
  expect(requests).toEqual([]);
});

test("a branch that moved is read as it is now, and the old commit stays readable", async () => {
  const { readHub, dataset } = await hub();
  const old = await readHub("hub:acme/forks");
  const before = dataset.commit;
  dataset.commit = "b".repeat(40);
  dataset.files = releaseFiles((manifest) =>
    Object.assign(manifest, { domains: { research: manifest.domains.research } }),
  );
  expect((await readHub("hub:acme/forks")).questions).toHaveLength(1);
  expect((await readHub(`hub:acme/forks@${before}`)).digest).toBe(old.digest);
});

test("with HF_HUB_OFFLINE the cache is read and the network left alone", async () => {
  const { readHub, requests } = await hub();
  const { digest } = await readHub("hub:acme/forks@v1.0");
  requests.length = 0;
  expect((await readHub("hub:acme/forks@v1.0", { HF_HUB_OFFLINE: "1" })).digest).toBe(digest);
  const error = await refusal(readHub("hub:acme/forks@main", { HF_HUB_OFFLINE: "1" }));
  expect(error.message).toContain("HF_HUB_OFFLINE");
  expect(requests).toEqual([]);
});

test("a hub that cannot be reached leaves what was read before, with a warning", async () => {
  const { readHub, close, warnings } = await hub();
  const { digest } = await readHub("hub:acme/forks");
  await close();
  expect((await readHub("hub:acme/forks")).digest).toBe(digest);
  expect(warnings).toEqual([expect.stringContaining("could not be reached")]);
  expect((await refusal(readHub("hub:acme/forks@v1.0"))).message).toContain("ECONNREFUSED");
});

test("a download that breaks off leaves nothing, and the next one is whole", async () => {
  const { readHub, cached, dataset } = await hub();
  dataset.cutAfter = 10;
  const error = await refusal(readHub("hub:acme/forks"));
  expect(error.message).toContain("export_manifest.json of hub:acme/forks could not be saved whole");
  expect((await cached()).filter((path) => path.endsWith(".json") || path.endsWith(".jsonl"))).toEqual([]);
  delete dataset.cutAfter;
  expect((await readHub("hub:acme/forks")).questions).toHaveLength(2);
});

test("a file with another hash than the manifest says is not kept", async () => {
  const files = releaseFiles();
  const { readHub, cached } = await hub(files.set("data/research/test-00000-of-00001.jsonl", "{}\n"));
  const { message } = await refusal(readHub("hub:acme/forks"));
  expect(message).toContain(
    `hub:acme/forks@${"a".repeat(40)}/data/research/test-00000-of-00001.jsonl: its sha256`,
  );
  expect((await cached()).some((path) => path.endsWith(".json"))).toBe(false);
});

test("a manifest on the hub that names a path outside is refused before that path is asked for", async () => {
  const files = releaseFiles(({ domains }) =>
    Object.assign(domains.research, { path: "../../../../x.jsonl" }),
  );
  const { readHub, requests } = await hub(files);
  expect((await refusal(readHub("hub:acme/forks"))).message).toContain("inside the release folder");
  expect(requests.some((request) => request.includes("x.jsonl"))).toBe(false);
});

test("four readers at once share one whole snapshot", async () => {
  const { readHub, cacheDir } = await hub();
  const sets = await Promise.all([1, 2, 3, 4].map(() => readHub("hub:acme/forks")));
  expect(new Set(sets.map(({ digest }) => digest)).size).toBe(1);
  expect(await readdir(join(cacheDir, "hub", "datasets--acme--forks", "snapshots"))).toEqual([
    "a".repeat(40),
  ]);
});

test("an unknown revision and a data set without a manifest are told apart", async () => {
  const { readHub } = await hub(new Map());
  expect((await refusal(readHub("hub:acme/forks@v9"))).message).toContain("no such revision");
  expect((await refusal(readHub("hub:acme/forks"))).message).toContain("not laid out as a release");
});

test.each([
  "hub:forks",
  "hub:a/b/c",
  "hub:acme/forks@",
  "hub:acme/..",
  "hub:acme/forks@../x",
  "hub:acme/forks?x",
])("%s is refused without a request", async (source) => {
  const { readHub, requests } = await hub();
  expect((await refusal(readHub(source))).nextStep).toContain("hub:owner/name@revision");
  expect(requests).toEqual([]);
});

test("nothing is written to the console while downloading", async () => {
  const { readHub } = await hub();
  const written: unknown[] = [];
  const { debug, log } = console;
  Object.assign(console, {
    debug: (text: unknown) => written.push(text),
    log: (text: unknown) => written.push(text),
  });
  try {
    await readHub("hub:acme/forks");
  } finally {
    Object.assign(console, { debug, log });
  }
  expect(written).toEqual([]);
});
