import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { tableLengths } from "../runs/prompts-file.ts";
import { readStageResult, type StageSpec } from "../runs/stage-store.ts";
import { type PlannedStage, planStages } from "./plan.ts";
import { type PrepareRequest, prepare } from "./prepare.ts";

export interface ExplainedStage {
  readonly label: string;
  readonly stage: string;
  readonly key: string;
  readonly state: "done" | "begun" | "to do";
  /** Tokens through the model, forward passes and training alike; prompts counted, replies at their cap. */
  readonly tokens: number;
  readonly why: string;
}

export interface ExplainedPlan {
  readonly stages: readonly ExplainedStage[];
  readonly tokens_to_compute: number;
}

/** What a recipe would compute, what is there already, and for the rest what differs from the nearest result. */
export async function explainPlan(request: PrepareRequest): Promise<ExplainedPlan> {
  const { plan } = await prepare(request);
  const lengths = await tableLengths(plan.promptsFile);
  const stages: ExplainedStage[] = [];
  for (const planned of planStages(plan)) {
    const { task } = planned;
    const { state, why } = await stateOf(planned, request.checkpoints);
    const tokens = tokensOf(planned, lengths);
    stages.push({ label: task.label, stage: task.stage, key: task.key, state, tokens, why });
  }
  const open = stages.filter(({ state }) => state !== "done");
  return { stages, tokens_to_compute: open.reduce((sum, { tokens }) => sum + tokens, 0) };
}

type Lengths = ReadonlyMap<string, { readonly student: number; readonly teacher: number }>;

function tokensOf({ task }: PlannedStage, lengths: Lengths): number {
  const sides = task.ids.map((id) => lengths.get(id) ?? { student: 0, teacher: 0 });
  const student = sides.reduce((sum, side) => sum + side.student, 0);
  const teacher = sides.reduce((sum, side) => sum + side.teacher, 0);
  switch (task.stage) {
    case "generate":
      return (task.role === "teacher" ? teacher : student) * task.samples + replyTokens(task) * task.samples;
    case "score":
      return (student + replyTokens(task)) * task.samples;
    case "distil":
      return teacher + student * task.optimizer.epochs;
    case "calibrate":
      return student * task.optimizer.epochs;
  }
}

function replyTokens(task: { ids: readonly string[]; decode: { max_reasoning_tokens: number } }): number {
  return task.ids.length * 2 * (task.decode.max_reasoning_tokens + 8);
}

async function stateOf(
  planned: PlannedStage,
  checkpoints: string,
): Promise<Pick<ExplainedStage, "state" | "why">> {
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
