import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { trainIds } from "../folds/manifest.ts";
import type { Question } from "../questions/schema.ts";
import { type ScoredItem, scorePairs } from "../scoring/paired-order.ts";
import { parseRecords, type ScoreRecord } from "../scoring/records.ts";
import { type FoldItems, type RunSummary, summariseRun } from "../scoring/run-summary.ts";
import { refuseSeenTasks } from "../scoring/seen-tasks.ts";
import type { PlanInput, PlannedStage } from "./plan.ts";

/** Reads the records of every score stage and sums them up, each fold's held-out side apart and pooled. */
export async function summariseStages(plan: PlanInput, stages: readonly PlannedStage[]): Promise<RunSummary> {
  const scored = stages.filter(({ task }) => task.stage === "score");
  const records = new Map<PlannedStage, readonly ScoreRecord[]>();
  for (const stage of scored) records.set(stage, await readScores(stage.task.folder));
  return summariseRun({ folds: plan.folds.map((fold) => foldItems(plan, { fold, records })) });
}

async function readScores(folder: string): Promise<readonly ScoreRecord[]> {
  const file = join(folder, "records.jsonl");
  return parseRecords(await readFile(file), file).records;
}

interface FoldScores {
  readonly fold: number;
  readonly records: ReadonlyMap<PlannedStage, readonly ScoreRecord[]>;
}

function foldItems(plan: PlanInput, { fold, records }: FoldScores): FoldItems {
  const heldOut = new Set(plan.manifest.folds.find((each) => each.fold === fold)?.held_out);
  const questions = plan.set.questions.filter(({ id }) => heldOut.has(id));
  refuseTrained(plan, { fold, questions });
  const items: Record<string, ScoredItem[]> = {};
  for (const [stage, all] of records) {
    if (stage.task.stage !== "score" || (stage.fold !== null && stage.fold !== fold)) continue;
    const own = all.filter((record) => heldOut.has(record.question_id));
    items[stage.task.checkpoint] = scorePairs(questions, own);
  }
  return { fold, items };
}

/** Held-out means held-out: no task of a scored question is among the tasks this fold's students trained on. */
function refuseTrained(
  plan: PlanInput,
  { fold, questions }: { fold: number; questions: readonly Question[] },
): void {
  const trained = new Set(trainIds(plan.manifest, fold));
  const trainedTasks = new Set(
    plan.set.questions.filter(({ id }) => trained.has(id)).map((each) => each.task_id),
  );
  const itemTasks = new Map(questions.map((question) => [question.id, question.task_id]));
  refuseSeenTasks({ itemTasks, trainedTasks, checkpoint: `fold ${fold}` });
}
