import { join } from "node:path";
import { heldOutIds } from "../folds/manifest.ts";
import { readLineage } from "../runs/lineage-file.ts";
import { readRecordsFile } from "../runs/records-file.ts";
import { type ScoredItem, scorePairs } from "../scoring/paired-order.ts";
import { parseRecords, type ScoreRecord } from "../scoring/records.ts";
import { type FoldItems, type RunSummary, summariseRun } from "../scoring/run-summary.ts";
import { refuseSeenTasks } from "../scoring/seen-tasks.ts";
import type { PlanInput, PlannedStage } from "./plan.ts";

/** Reads the records of every score stage and sums them up, each fold's held-out side apart and pooled. */
export async function summariseStages(plan: PlanInput, stages: readonly PlannedStage[]): Promise<RunSummary> {
  await refuseTrained(plan, stages);
  const scored = stages.filter(({ task }) => task.stage === "score");
  const records = new Map<PlannedStage, readonly ScoreRecord[]>();
  for (const stage of scored) records.set(stage, await readScores(stage.task.folder));
  return summariseRun({ folds: plan.folds.map((fold) => foldItems(plan, { fold, records })) });
}

async function readScores(folder: string): Promise<readonly ScoreRecord[]> {
  return readRecordsFile(join(folder, "records.jsonl"), parseRecords);
}

interface FoldScores {
  readonly fold: number;
  readonly records: ReadonlyMap<PlannedStage, readonly ScoreRecord[]>;
}

function foldItems(plan: PlanInput, { fold, records }: FoldScores): FoldItems {
  const heldOut = new Set(heldOutIds(plan.manifest, fold));
  const questions = plan.set.questions.filter(({ id }) => heldOut.has(id));
  const items: Record<string, ScoredItem[]> = {};
  for (const [stage, all] of records) {
    if (stage.task.stage !== "score" || (stage.fold !== null && stage.fold !== fold)) continue;
    const own = all.filter((record) => heldOut.has(record.question_id));
    items[stage.task.checkpoint] = scorePairs(questions, own);
  }
  return { fold, items };
}

/** Held-out means held-out: by the adapters' own lineage, no task of a scored question was trained on. */
async function refuseTrained(plan: PlanInput, stages: readonly PlannedStage[]): Promise<void> {
  const tasks = new Map(plan.set.questions.map((question) => [question.id, question.task_id]));
  for (const fold of plan.folds) {
    const adapters = stages.filter(({ task, fold: own }) => own === fold && isTraining(task.stage));
    const lineages = await Promise.all(adapters.map(({ task }) => readLineage(task.folder)));
    const trainedTasks = new Set(
      lineages.flatMap(({ question_ids }) => question_ids.map((id) => tasks.get(id) ?? id)),
    );
    const itemTasks = new Map(heldOutIds(plan.manifest, fold).map((id) => [id, tasks.get(id) ?? id]));
    refuseSeenTasks({ itemTasks, trainedTasks, checkpoint: `of fold ${fold}` });
  }
}

function isTraining(stage: string): boolean {
  return stage === "distil" || stage === "calibrate";
}
