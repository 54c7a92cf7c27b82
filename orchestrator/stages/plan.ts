import { join } from "node:path";
import type { Decode, StageTask } from "../bridge/protocol.ts";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import type { FoldManifest } from "../folds/manifest.ts";
import { heldOutIds, trainIds } from "../folds/manifest.ts";
import type { QuestionSet } from "../questions/schema.ts";
import type { Recipe } from "../recipe.ts";
import { type StageSpec, stageFolder, stageKey } from "../runs/stage-store.ts";
import { CODE_VERSIONS } from "./code-versions.ts";

/** What a question's two presentations hold, by side: sha256 over texts and ids. */
export interface PromptDigests {
  readonly student: string;
  readonly teacher: string;
}

export interface PlanInput {
  readonly recipe: Recipe;
  readonly set: QuestionSet;
  readonly manifest: FoldManifest;
  readonly splitDigest: string;
  readonly model: { readonly source: string; readonly revision: string | null; readonly digest: string };
  readonly tokenizerDigest: string;
  readonly promptsFile: string;
  readonly promptDigests: ReadonlyMap<string, PromptDigests>;
  /** The folds that are run now. */
  readonly folds: readonly number[];
  /** The folds of the recipe: stages that no fold owns cover all of them, so that runs of single folds share. */
  readonly allFolds: readonly number[];
  readonly checkpoints: string;
}

export interface PlannedStage {
  readonly task: StageTask;
  readonly spec: StageSpec;
  /** The fold this stage belongs to; null = shared by all folds. */
  readonly fold: number | null;
}

/**
 * The chain of a run, in the order one job computes it. Keys are known before anything has run: a stage names
 * its parents by their keys. Stages that do not depend on the split (teacher traces, base scores) cover the questions
 * of all folds of the recipe, so that single folds and other splits find them done.
 */
export function planStages(input: PlanInput): PlannedStage[] {
  const everyone = input.allFolds.flatMap((fold) => heldOutIds(input.manifest, fold));
  const base = planScore(input, { checkpoint: "base", fold: null, ids: inOrder(input, everyone) });
  const students = input.allFolds.flatMap((fold) => trainIds(input.manifest, fold));
  const teacher = planGenerate(input, { role: "teacher", fold: null, ids: inOrder(input, students) });
  return [base, teacher, ...input.folds.flatMap((fold) => planFold(input, { fold, teacher }))];
}

function planFold(
  input: PlanInput,
  { fold, teacher }: { fold: number; teacher: PlannedStage },
): PlannedStage[] {
  const train = inOrder(input, trainIds(input.manifest, fold));
  const heldOut = inOrder(input, heldOutIds(input.manifest, fold));
  const distil = planDistil(input, { fold, ids: train, teacher });
  const distilled = planScore(input, { checkpoint: "distilled", fold, ids: heldOut, adapter: distil });
  if (input.recipe.calibrate === null) return [distil, distilled];
  const own = planGenerate(input, { role: "student", fold, ids: train, adapter: distil });
  const calibrate = planCalibrate(input, { fold, ids: train, own, distil });
  const calibrated = planScore(input, { checkpoint: "calibrated", fold, ids: heldOut, adapter: calibrate });
  return [distil, distilled, own, calibrate, calibrated];
}

interface Part {
  readonly fold: number | null;
  readonly ids: readonly string[];
  readonly adapter?: PlannedStage;
}

function planGenerate(input: PlanInput, part: Part & { role: "teacher" | "student" }): PlannedStage {
  const { role, fold, ids, adapter } = part;
  const { generate, calibrate } = input.recipe;
  const from = role === "teacher" || calibrate === null ? generate : calibrate;
  const parameters = {
    role,
    samples: from.traces,
    decode: decodeOf(input.recipe, from.sampling),
    gate: role === "teacher" ? generate.gate : null,
  };
  const inputs = {
    student: digestOf(input, { ids, side: "student" }),
    ...(role === "teacher" && { teacher: digestOf(input, { ids, side: "teacher" }) }),
    ...(adapter !== undefined && { adapter: adapter.task.key }),
  };
  const kind = role === "teacher" ? "teacher traces" : "own traces";
  const parents = of(adapter);
  const common = planCommon(input, { stage: "generate", fold, ids, parameters, kind, inputs, parents });
  const task = { stage: "generate" as const, ...common.task, ...parameters, adapter: adapterOf(adapter) };
  return { task, spec: common.spec, fold };
}

function planDistil(input: PlanInput, part: Part & { teacher: PlannedStage }): PlannedStage {
  const { fold, ids, teacher } = part;
  const parameters = { ...input.recipe.distil };
  const inputs = {
    traces: teacher.task.key,
    student: digestOf(input, { ids, side: "student" }),
    teacher: digestOf(input, { ids, side: "teacher" }),
  };
  const common = planCommon(input, { stage: "distil", fold, ids, parameters, inputs, parents: [teacher] });
  return {
    task: { stage: "distil", ...common.task, ...parameters, traces: tracesOf(teacher) },
    spec: common.spec,
    fold,
  };
}

function planCalibrate(
  input: PlanInput,
  part: Part & { own: PlannedStage; distil: PlannedStage },
): PlannedStage {
  const { fold, ids, own, distil } = part;
  const { loss, optimizer } = input.recipe.calibrate ?? {};
  if (loss === undefined || optimizer === undefined) throw new TypeError("This recipe has no calibration.");
  const inputs = {
    traces: own.task.key,
    adapter: distil.task.key,
    student: digestOf(input, { ids, side: "student" }),
  };
  const parameters = { loss, optimizer };
  const common = planCommon(input, {
    stage: "calibrate",
    fold,
    ids,
    parameters,
    inputs,
    parents: [distil, own],
  });
  const paths = { traces: tracesOf(own), adapter: join(distil.task.folder, "adapter") };
  return { task: { stage: "calibrate", ...common.task, ...parameters, ...paths }, spec: common.spec, fold };
}

function planScore(
  input: PlanInput,
  part: Part & { checkpoint: "base" | "distilled" | "calibrated" },
): PlannedStage {
  const { fold, ids, adapter, checkpoint } = part;
  const { score } = input.recipe;
  const parameters = { checkpoint, samples: 1, decode: decodeOf(input.recipe, score.sampling) };
  const inputs = {
    student: digestOf(input, { ids, side: "student" }),
    ...(adapter !== undefined && { adapter: adapter.task.key }),
  };
  const parents = of(adapter);
  const common = planCommon(input, {
    stage: "score",
    fold,
    ids,
    parameters,
    kind: checkpoint,
    inputs,
    parents,
  });
  const task = { stage: "score" as const, ...common.task, ...parameters, adapter: adapterOf(adapter) };
  return { task, spec: common.spec, fold };
}

interface Common {
  readonly stage: StageTask["stage"];
  readonly fold: number | null;
  readonly ids: readonly string[];
  readonly parameters: object;
  /** For the label: which of the generate or score stages this is. */
  readonly kind?: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly parents: readonly PlannedStage[];
}

function planCommon(input: PlanInput, common: Common) {
  const { recipe, model, set } = input;
  const { stage, fold, ids, parameters, kind, inputs, parents } = common;
  const spec: StageSpec = {
    stage,
    code_version: CODE_VERSIONS[stage],
    parameters: { ...parameters, dtype: recipe.model.dtype },
    inputs,
    base: model.digest,
    tokenizer: input.tokenizerDigest,
    seed: recipe.seed,
  };
  const key = stageKey(spec);
  const what = kind === undefined ? stage : `${stage} ${kind}`;
  const task = {
    key,
    label: fold === null ? what : `fold ${fold}: ${what}`,
    folder: stageFolder(input.checkpoints, stage, key),
    seed: recipe.seed,
    prompts: input.promptsFile,
    ids: [...ids],
    lineage: {
      data_digest: set.digest,
      split_digest: input.splitDigest,
      fold,
      base: { ...model },
      tokenizer_digest: input.tokenizerDigest,
      parents: parents.map((parent) => ({ stage: parent.task.stage, key: parent.task.key })),
    },
  };
  return { spec, task };
}

function decodeOf(recipe: Recipe, sampling: Recipe["score"]["sampling"]): Decode {
  return { ...recipe.reply, ...sampling };
}

/** Question order, whatever order the split lists them in. */
function inOrder(input: PlanInput, ids: readonly string[]): string[] {
  const wanted = new Set(ids);
  return input.set.questions.map((question) => question.id).filter((id) => wanted.has(id));
}

function digestOf(input: PlanInput, part: { ids: readonly string[]; side: keyof PromptDigests }): string {
  const rows = part.ids.map((id) => [id, input.promptDigests.get(id)?.[part.side] ?? null]);
  return sha256Hex(canonicalJson(rows));
}

function of(stage: PlannedStage | undefined): PlannedStage[] {
  return stage === undefined ? [] : [stage];
}

function tracesOf(stage: PlannedStage): string {
  return join(stage.task.folder, "traces.arrow");
}

function adapterOf(stage: PlannedStage | undefined): string | null {
  return stage === undefined ? null : join(stage.task.folder, "adapter");
}
