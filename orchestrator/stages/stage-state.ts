import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readStageResult, type StageSpec } from "../runs/stage-store.ts";
import type { PlannedStage } from "./plan.ts";

interface StageState {
  readonly state: "done" | "begun" | "to do";
  readonly why: string;
}

/** Whether a planned stage has a result, and for one that has none what the nearest result differs in. */
export async function stageState(planned: PlannedStage, checkpoints: string): Promise<StageState> {
  if ((await readStageResult(planned.task.folder)) !== undefined)
    return { state: "done", why: "computed before" };
  if (existsSync(join(planned.task.folder, "lease.json")))
    return { state: "begun", why: "goes on where it stopped" };
  return { state: "to do", why: await nearest(planned.spec, checkpoints) };
}

/** Names the fields in which the most similar finished stage of this kind differs. */
async function nearest(spec: StageSpec, checkpoints: string): Promise<string> {
  const others = await finishedSpecs(spec.stage, checkpoints);
  const differences = others.map((other) => differingFields(spec, other)).sort((a, b) => a.length - b.length);
  const fewest = differences[0];
  return fewest === undefined ? "nothing like it yet" : `differs from a finished one in ${fewest.join(", ")}`;
}

async function finishedSpecs(stage: string, checkpoints: string): Promise<StageSpec[]> {
  const folder = join(checkpoints, "stages");
  const names = existsSync(folder) ? await readdir(folder) : [];
  const finished = names.filter(
    (name) => name.startsWith(`${stage}-`) && existsSync(join(folder, name, "result.json")),
  );
  return Promise.all(
    finished.map(
      async (name) => JSON.parse(await readFile(join(folder, name, "spec.json"), "utf8")) as StageSpec,
    ),
  );
}

function differingFields(a: unknown, b: unknown, path = ""): string[] {
  if (!isRecord(a) || !isRecord(b)) return JSON.stringify(a) === JSON.stringify(b) ? [] : [path];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return keys.flatMap((key) => differingFields(a[key], b[key], path === "" ? key : `${path}.${key}`));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
