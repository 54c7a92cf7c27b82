import { mkdtemp, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runProcess } from "../../orchestrator/bridge/process.ts";

const cases = fileURLToPath(new URL("../fixtures/cases/", import.meta.url));

async function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "palate process é "));
}

async function beats(out: string): Promise<string[]> {
  return Promise.all(["trainer.beat", "worker.beat"].map((name) => readFile(join(out, name), "utf8")));
}

async function waitForBeats(out: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (
      await beats(out).then(
        (texts) => texts.every(Boolean),
        () => false,
      )
    )
      return;
    await delay(100);
  }
  throw new Error("the trainer did not start");
}

function fakeTrainer(out: string, extra: Partial<Parameters<typeof runProcess>[0]>) {
  return runProcess({
    command: "python3",
    args: [join(cases, "20-orphan-trainer", "fake_trainer.py"), "--out", out],
    cwd: out,
    logFile: join(out, "stderr.log"),
    onBytes: () => undefined,
    ...extra,
  });
}

describe("one process (case 20)", () => {
  it("ends the trainer and its worker when it is asked to stop", async () => {
    const out = await folder();
    const stop = new AbortController();
    const end = fakeTrainer(out, { stop: stop.signal });
    await waitForBeats(out);
    stop.abort();
    expect(await end).toMatchObject({ stopped: true, signal: "SIGTERM" });
    const before = await beats(out);
    await delay(700);
    expect(await beats(out)).toEqual(before);
  });

  it("ends both at the time limit", async () => {
    const out = await folder();
    expect((await fakeTrainer(out, { limitSeconds: 1.5 })).stopped).toBe(true);
    const before = await beats(out);
    await delay(700);
    expect(await beats(out)).toEqual(before);
  });

  it("kills a child that ignores SIGTERM after the grace time", async () => {
    const out = await folder();
    const script = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)";
    const end = await runProcess({
      command: "python3",
      args: ["-c", script],
      cwd: out,
      logFile: join(out, "stderr.log"),
      onBytes: () => undefined,
      limitSeconds: 1,
      graceSeconds: 0.3,
    });
    expect(end).toEqual({ exitCode: null, signal: "SIGKILL", stopped: true });
  });

  it("keeps memory flat and the last lines when the child writes 200 MB to stderr", async () => {
    const out = await folder();
    const before = process.memoryUsage().rss;
    const script =
      "import sys\nfor _ in range(200): sys.stderr.write('x' * 1_000_000)\nsys.stderr.write('last line')";
    const logFile = join(out, "stderr.log");
    const end = await runProcess({
      command: "python3",
      args: ["-c", script],
      cwd: out,
      logFile,
      onBytes: () => undefined,
    });
    expect(end.exitCode).toBe(0);
    expect((await stat(logFile)).size).toBe(200_000_009);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it("says what to do when the interpreter does not exist", async () => {
    const out = await folder();
    const request = {
      command: "no-such-python",
      args: [],
      cwd: out,
      logFile: join(out, "log"),
      onBytes: () => undefined,
    };
    await expect(runProcess(request)).rejects.toThrow(/Could not start no-such-python/);
  });
});
