import { existsSync } from "node:fs";
import { join } from "node:path";
import { RunError } from "../errors.ts";
import { liveLease } from "../runs/lease.ts";
import { listRuns, type RunFile, readRun } from "../runs/run-file.ts";
import { stageFolder } from "../runs/stage-store.ts";

export interface StageStatus {
  readonly stage: string;
  readonly label: string;
  readonly key: string;
  readonly state: "done" | "running" | "begun" | "waiting";
}

export interface RunStatus {
  readonly name: string;
  readonly status: RunFile["status"] | "lost";
  readonly message: string | null;
  readonly seconds: number;
  readonly stages: readonly StageStatus[];
}

/** How far a run is, read from its stage folders: the control plane may have died long ago. */
export async function runStatus(checkpoints: string, name: string): Promise<RunStatus> {
  return statusOf(checkpoints, await readRun(checkpoints, name));
}

export interface RunLine {
  readonly name: string;
  readonly status: RunStatus["status"] | "unreadable";
  readonly stages: number;
  readonly done: number;
}

/** Every run with its state and its done stages, the one touched last first. */
export async function listStatus(checkpoints: string): Promise<RunLine[]> {
  const runs = await listRuns(checkpoints);
  return Promise.all(runs.map((run) => lineOf(checkpoints, run)));
}

async function lineOf(checkpoints: string, run: RunFile | RunError): Promise<RunLine> {
  if (run instanceof RunError) return { name: run.message, status: "unreadable", stages: 0, done: 0 };
  const { name, status, stages } = await statusOf(checkpoints, run);
  return { name, status, stages: stages.length, done: stages.filter(({ state }) => state === "done").length };
}

async function statusOf(checkpoints: string, run: RunFile): Promise<RunStatus> {
  const stages = await Promise.all(
    run.stages.map(async ({ stage, label, key }) => {
      const state = await stageState(stageFolder(checkpoints, stage, key));
      return { stage, label, key, state };
    }),
  );
  return {
    name: run.name,
    status: isLost(run, stages) ? "lost" : run.status,
    message: run.message,
    seconds: run.seconds,
    stages,
  };
}

/** A run that says it is running while no living process holds one of its stages, and has not just begun. */
function isLost(run: RunFile, stages: readonly StageStatus[]): boolean {
  const idle = stages.every(({ state }) => state !== "running");
  return run.status === "running" && idle && Date.now() - Date.parse(run.updated_at) > 60_000;
}

async function stageState(folder: string): Promise<StageStatus["state"]> {
  if (existsSync(join(folder, "result.json"))) return "done";
  if ((await liveLease(folder)) !== undefined) return "running";
  return existsSync(join(folder, "lease.json")) ? "begun" : "waiting";
}
