import { chmod, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runJob } from "../../orchestrator/bridge/job.ts";
import type { Job } from "../../orchestrator/bridge/protocol.ts";
import { BridgeError, DataError } from "../../orchestrator/errors.ts";

const cases = fileURLToPath(new URL("../fixtures/cases/21-killed-is-not-done/", import.meta.url));
const job: Job = {
  protocol: 1,
  kind: "resolve",
  source: "no-such-folder-anywhere/at all",
  revision: null,
  cache_dir: tmpdir(),
  tokenizer_only: true,
};

afterEach(() => void vi.unstubAllEnvs());

/** A job whose interpreter runs the trainer of the case instead of the bridge. */
async function runTrainer(script: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "palate job "));
  const interpreter = join(folder, "python");
  await writeFile(interpreter, `#!/bin/sh\nexec python3 "${cases}${script}" --out "${folder}/out"\n`);
  await chmod(interpreter, 0o755);
  vi.stubEnv("PALATE_PYTHON", interpreter);
  return runJob({ job, folder: join(folder, "job") }).then(
    (events) => ({ events, exit: readFile(join(folder, "job", "exit.json"), "utf8") }),
    (error: unknown) => error,
  );
}

describe("how a job ends (case 21)", () => {
  it("a killed trainer has failed, and memory is named as the usual cause", async () => {
    const error = await runTrainer("killed_trainer.py");
    expect(error).toBeInstanceOf(BridgeError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/SIGKILL, 137/),
      nextStep: expect.stringMatching(/memory/),
      facts: { signal: "SIGKILL" },
    });
  });

  it("a trainer that says done and exits with 3 has failed, with the last lines of its log", async () => {
    const error = await runTrainer("late_error_trainer.py");
    expect(error).toMatchObject({
      message: expect.stringMatching(/exit code 3[\s\S]*could not write the last shard/),
    });
  });

  it("a quiet trainer ends well as a process; the stage store then finds no result", async () => {
    expect(await runTrainer("quiet_trainer.py")).toMatchObject({ events: [] });
  });
});

describe("the real bridge", () => {
  it("refuses a model that is not there as bad input, in one message", async () => {
    const folder = await mkdtemp(join(tmpdir(), "palate job "));
    const error = await runJob({ job, folder }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(DataError);
    expect(error).toMatchObject({
      message: expect.stringContaining(job.kind === "resolve" ? job.source : ""),
    });
  });
});
