import { join } from "node:path";
import type { BridgeEvent } from "../bridge/protocol.ts";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import { StoppedError, UsageError } from "../errors.ts";
import type { LoadedRecipe } from "../recipe-file.ts";
import { writeJsonAtomic } from "../runs/atomic-file.ts";
import { findRun, type RunFile, runFolder, writeRun } from "../runs/run-file.ts";
import type { RunSummary } from "../scoring/run-summary.ts";
import { computeStages, pendingStages } from "./compute.ts";
import { type PlannedStage, planStages } from "./plan.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { summariseStages } from "./summarise-run.ts";

export interface RunRequest {
  readonly loaded: LoadedRecipe;
  readonly checkpoints: string;
  readonly name?: string;
  readonly fold?: number;
  readonly say: (line: string) => void;
  /** Called once with the whole chain before anything is computed. */
  readonly onPlan: (stages: readonly PlannedStage[], pending: readonly PlannedStage[]) => void;
  readonly onEvent: (event: BridgeEvent) => void;
  readonly stop?: AbortSignal;
  readonly kill?: AbortSignal;
  /** Save and stop after this time, counted from the start of the job. */
  readonly limitSeconds?: number;
}

export interface FinishedRun {
  readonly name: string;
  readonly folder: string;
  readonly summary: RunSummary;
  readonly reused: number;
  readonly stages: number;
}

/** The main job: questions, folds, teacher, distil, calibrate, held-out score. Done stages cost nothing. */
export async function runRecipe(request: RunRequest): Promise<FinishedRun> {
  const started = Date.now();
  const prepared = await prepare(request);
  const stages = planStages(prepared.plan);
  const pending = await pendingStages(stages);
  request.onPlan(stages, pending);
  let run = await openRun(request, { prepared, stages });
  const elapsed = run.seconds;
  async function save(change: Partial<RunFile>): Promise<void> {
    const seconds = elapsed + (Date.now() - started) / 1000;
    run = { ...run, ...change, seconds, updated_at: new Date().toISOString() };
    await writeRun(request.checkpoints, run);
  }
  await save({ status: "running", message: null });
  try {
    await computeStages({
      ...request,
      stages,
      recipe: request.loaded.recipe,
      model: prepared.model,
      onJob: (job) => save({ jobs: [...run.jobs, job] }),
    });
    const summary = await summariseStages(prepared.plan, stages);
    const folder = runFolder(request.checkpoints, run.name);
    await writeJsonAtomic(join(folder, "summary.json"), summary);
    await save({ status: "done" });
    return { name: run.name, folder, summary, reused: stages.length - pending.length, stages: stages.length };
  } catch (error) {
    const status = error instanceof StoppedError ? "stopped" : "failed";
    await save({ status, message: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

interface Opening {
  readonly prepared: Prepared;
  readonly stages: readonly PlannedStage[];
}

/** The same recipe on the same data has the same name, so running it again goes on with the same run. */
async function openRun(request: RunRequest, { prepared, stages }: Opening): Promise<RunFile> {
  const identity = sha256Hex(canonicalJson(stages.map(({ task }) => task.key)));
  const name = request.name ?? `${request.loaded.name}-${identity.slice(0, 8)}`;
  const before = await findRun(request.checkpoints, name);
  if (before !== undefined) refuseOtherRun(before, stages);
  const { set, model, plan } = prepared;
  const now = new Date().toISOString();
  const { source, revision, digest, architecture } = model;
  return {
    name,
    recipe_name: request.loaded.name,
    recipe: request.loaded.recipe,
    data: {
      source: set.source,
      digest: set.digest,
      n: set.questions.length,
      tasks: new Set(set.questions.map((question) => question.task_id)).size,
    },
    split_digest: plan.splitDigest,
    folds: [...plan.folds],
    model: { source, revision, digest, architecture },
    stages: stages.map(({ task, fold }) => ({ stage: task.stage, key: task.key, label: task.label, fold })),
    status: "running",
    jobs: before?.jobs ?? [],
    started_at: before?.started_at ?? now,
    updated_at: now,
    seconds: before?.seconds ?? 0,
    message: null,
  };
}

/** A name stands for one result: another recipe under it would show the old figures as its own. */
function refuseOtherRun(before: RunFile, stages: readonly PlannedStage[]): void {
  const [old, now] = [before.stages.map(({ key }) => key), stages.map(({ task }) => task.key)];
  if (canonicalJson(old) === canonicalJson(now)) return;
  throw new UsageError(
    `There is a run ${before.name} already, of recipe ${before.recipe_name} with other stages.`,
    {
      nextStep: "Give another --name, or none.",
      facts: { run: before.name },
    },
  );
}
