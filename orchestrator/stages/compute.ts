import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runJob } from "../bridge/job.ts";
import { type BridgeEvent, PROTOCOL_VERSION, type StagesJob } from "../bridge/protocol.ts";
import { BridgeError, RunError } from "../errors.ts";
import type { Recipe } from "../recipe.ts";
import { newJobId } from "../runs/job-id.ts";
import { liveLease } from "../runs/lease.ts";
import { readStageResult, writeSpec } from "../runs/stage-store.ts";
import type { PlannedStage } from "./plan.ts";

export interface ComputeRequest {
  readonly stages: readonly PlannedStage[];
  readonly recipe: Recipe;
  readonly model: { readonly path: string; readonly digest: string };
  readonly checkpoints: string;
  readonly onJob: (job: string) => Promise<void>;
  readonly onEvent: (event: BridgeEvent) => void;
  readonly stop?: AbortSignal;
  readonly kill?: AbortSignal;
  /** Save and stop after this time, counted from the start of the job. */
  readonly limitSeconds?: number;
}

/** Stages of a plan that have no result yet. */
export async function pendingStages(stages: readonly PlannedStage[]): Promise<PlannedStage[]> {
  const results = await Promise.all(stages.map(({ task }) => readStageResult(task.folder)));
  return stages.filter((_, index) => results[index] === undefined);
}

/**
 * Computes what is missing as one chain over one loaded base model.
 * @throws RunError when a living process computes one of the stages; BridgeError when the job ends well but a
 * stage left no result; what runJob throws.
 */
export async function computeStages(request: ComputeRequest): Promise<void> {
  const pending = await pendingStages(request.stages);
  if (pending.length === 0) return;
  for (const stage of pending) {
    await refuseWhileHeld(stage);
    await writeSpec(stage.task.folder, stage.spec);
  }
  const job = newJobId("run");
  const folder = join(request.checkpoints, "jobs", job);
  await request.onJob(job);
  await runJob({
    job: jobOf(request, { job, pending }),
    folder,
    onEvent: request.onEvent,
    ...(request.stop && { stop: request.stop }),
    ...(request.kill && { kill: request.kill }),
    ...(request.limitSeconds !== undefined && { limitSeconds: request.limitSeconds }),
  });
  const left = (await pendingStages(pending))[0];
  if (left === undefined) return;
  throw new BridgeError(
    `The job ended well, but ${left.task.label} left no result: ${MISSING[left.task.stage]}.`,
    {
      nextStep: `Read ${join(folder, "stderr.log")}; the stage is not taken for done.`,
      facts: { folder, stage: left.task.folder },
    },
  );
}

const MISSING = {
  generate: "no traces were written",
  distil: "no adapter was written",
  calibrate: "no adapter was written",
  score: "no records were written",
} as const;

function jobOf(request: ComputeRequest, chain: { job: string; pending: readonly PlannedStage[] }): StagesJob {
  const { execution, model } = request.recipe;
  const { device, ...rest } = execution;
  return {
    protocol: PROTOCOL_VERSION,
    kind: "stages",
    job: chain.job,
    model: { path: request.model.path, digest: request.model.digest, dtype: model.dtype, device },
    execution: rest,
    stages: chain.pending.map(({ task }) => task),
  };
}

/** A job whose parent died ends within seconds; it is given that long before the stage counts as taken. */
const LEASE_PATIENCE_MS = 10_000;

async function refuseWhileHeld({ task }: PlannedStage): Promise<void> {
  for (const end = Date.now() + LEASE_PATIENCE_MS; ; await delay(250)) {
    const lease = await liveLease(task.folder);
    if (lease === undefined) return;
    if (Date.now() < end) continue;
    throw new RunError(`${task.label} is being computed by process ${lease.pid}.`, {
      nextStep: "Wait for that run, or stop it, then run this command again.",
      facts: { pid: lease.pid, stage: task.folder },
    });
  }
}
