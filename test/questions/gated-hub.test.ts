import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DataError } from "../../orchestrator/errors.ts";
import { readQuestions } from "../../orchestrator/questions/read.ts";
import { caseFile, refusal, temporaryFolder } from "./cases.ts";

const ABSENT = "/nonexistent/token";
let child: ChildProcess;
let hubUrl = "";
let logFolder = "";

beforeAll(async () => {
  logFolder = await mkdtemp(join(tmpdir(), "palate-hub-"));
  child = spawn(process.execPath, [caseFile("25-gated-hub/fake-hub.mjs"), log()], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout ?? child, "data");
  hubUrl = String(line).trim();
});

afterAll(async () => {
  child.kill();
  await rm(logFolder, { recursive: true, force: true });
});

function log(): string {
  return join(logFolder, "requests.jsonl");
}

async function refusedBy(source: string, env: NodeJS.ProcessEnv): Promise<DataError> {
  const cacheDir = await temporaryFolder();
  const error = await refusal(
    readQuestions(source, { cacheDir, hubUrl, env: { HF_TOKEN_PATH: ABSENT, ...env } }),
  );
  expect(error.name).toBe("DataError");
  const kept = await readdir(cacheDir, { recursive: true });
  expect(kept.filter((path) => path.endsWith(".json"))).toEqual([]);
  for (const token of ["hf_with_access", env["HF_TOKEN"] ?? "hf_"]) expect(told(error)).not.toContain(token);
  return error;
}

function told(error: DataError): string {
  return [error.message, error.nextStep, error.stack, JSON.stringify(error.facts), String(error.cause)].join(
    "\n",
  );
}

test("gated, no token: the page and HF_TOKEN are named", async () => {
  const error = await refusedBy("hub:acme/gated-forks", {});
  expect(error.exitCode).not.toBe(0);
  expect(error.message).toContain("gated");
  expect(error.message).toContain(`${hubUrl}/datasets/acme/gated-forks`);
  expect(error.nextStep).toContain("HF_TOKEN");
});

test("gated, account without access: the page is named and no token asked for", async () => {
  const error = await refusedBy("hub:acme/gated-forks", { HF_TOKEN: "hf_no_access" });
  expect(error.message).toContain("has not been granted access");
  expect(error.message).toContain(`${hubUrl}/datasets/acme/gated-forks`);
  expect(`${error.message} ${error.nextStep}`).not.toMatch(/token/i);
});

test.each(["hf_wrong", "wrong", "hf_wr\u00f6ng"])(
  "the wrong token %s is said to be not valid",
  async (token) => {
    const error = await refusedBy("hub:acme/open-forks", { HF_TOKEN: token });
    expect(error.message).toContain("not valid");
  },
);

test("a missing data set is not found with a token, and perhaps not visible without", async () => {
  const withToken = await refusedBy("hub:acme/nothing", { HF_TOKEN: "hf_with_access" });
  expect(withToken.message).toContain("was not found");
  expect(withToken.message).not.toContain("visible");
  expect((await refusedBy("hub:acme/nothing", {})).message).toContain("not visible without a token");
});

test.each(["token-with-newline.txt", "token-from-windows.txt"])(
  "the token of %s is sent clean",
  async (name) => {
    const before = (await readFile(log(), "utf8")).length;
    // This hub serves a manifest that holds a version alone, so the read ends there, past the gate.
    const env = { HF_TOKEN_PATH: caseFile(`25-gated-hub/${name}`) };
    expect((await refusedBy("hub:acme/gated-forks", env)).message).toContain(
      "export_manifest.json manifest, release",
    );
    const sent = (await readFile(log(), "utf8"))
      .slice(before)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).auth);
    expect(new Set(sent)).toEqual(new Set(["Bearer hf_with_access"]));
  },
);

test("the address of the hub is taken from HF_ENDPOINT", async () => {
  const cacheDir = await temporaryFolder();
  const env = { HF_TOKEN_PATH: ABSENT, HF_ENDPOINT: `${hubUrl}/` };
  expect((await refusal(readQuestions("hub:acme/gated-forks", { cacheDir, env }))).message).toContain(
    "is gated",
  );
  const secret = { HF_ENDPOINT: "https://user:secret@hub.example" };
  const error = await refusal(readQuestions("hub:acme/open-forks", { cacheDir, env: { ...env, ...secret } }));
  expect(told(error)).not.toContain("secret");
});
