import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { emptyCheckpoints, tinyRecipe } from "./tiny-recipe.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

interface Running {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly python: number;
  readonly stderr: () => string;
}

/** A run as a user starts it, waited for until the trainer takes steps. */
async function startRun(): Promise<Running> {
  const folder = await emptyCheckpoints();
  const recipe = join(folder, "tiny.yaml");
  const slow = { optimizer: { questions_per_step: 1, epochs: 200 } };
  writeFileSync(recipe, stringify(tinyRecipe({ distil: slow }).recipe));
  const child = spawn(process.execPath, [cli, "run", recipe, "--checkpoints", folder], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: string[] = [];
  child.stderr?.on("data", (chunk) => said.push(String(chunk)));
  for (let tries = 0; tries < 600; tries += 1) {
    const events = eventsOf(folder);
    const started = events.findLast(({ event }) => event === "job_started");
    if (started?.pid !== undefined && events.some(({ event }) => event === "step")) {
      return { child, folder, python: started.pid, stderr: () => said.join("") };
    }
    await delay(100);
  }
  throw new Error(`the run took no step: ${said.join("")}`);
}

function eventsOf(folder: string): { event: string; pid?: number }[] {
  const jobs = join(folder, "jobs");
  const files = (existsSync(jobs) ? readdirSync(jobs) : []).map((name) => join(jobs, name, "events.jsonl"));
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").split("\n").slice(0, -1))
    .map((line) => JSON.parse(line));
}

/** A dead process can stay in the table as a zombie for a while. */
function isAlive(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !readFileSync(file, "utf8").includes(") Z ");
}

async function goneWithin(pid: number, seconds: number): Promise<boolean> {
  for (let tries = 0; tries < seconds * 10; tries += 1) {
    if (!isAlive(pid)) return true;
    await delay(100);
  }
  return false;
}

function statusOf(folder: string): string {
  const [name = ""] = readdirSync(join(folder, "runs"));
  return JSON.parse(readFileSync(join(folder, "runs", name, "run.json"), "utf8")).status;
}

describe("the command under signals (case 20, with the real trainer)", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "%s saves, ends the trainer, and marks the run stopped",
    async (signal) => {
      const { child, folder, python, stderr } = await startRun();
      child.kill(signal);
      const [code] = await once(child, "exit");
      expect({ code, status: statusOf(folder) }).toEqual({ code: 75, status: "stopped" });
      expect(await goneWithin(python, 1)).toBe(true);
      expect(stderr()).toContain("go on from there");
      expect(eventsOf(folder).some(({ event }) => event === "checkpointed")).toBe(true);
    },
  );

  it("SIGKILL to the control plane ends the trainer within 10 s", async () => {
    const { child, python } = await startRun();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await goneWithin(python, 10)).toBe(true);
  });

  it("a second Ctrl-C kills a trainer that does not stop", async () => {
    const { child, python } = await startRun();
    process.kill(python, "SIGSTOP");
    child.kill("SIGINT");
    await delay(300);
    child.kill("SIGINT");
    const [code] = await once(child, "exit");
    expect(code).not.toBe(0);
    expect(await goneWithin(python, 2)).toBe(true);
  });
});
