import { cacheFolder } from "../cache-folder.ts";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import { RecipeError, StoppedError, UsageError } from "../errors.ts";
import type { FoldManifest } from "../folds/manifest.ts";
import { readQuestions } from "../questions/read.ts";
import type { QuestionSet } from "../questions/schema.ts";
import type { Recipe } from "../recipe.ts";
import type { LoadedRecipe } from "../recipe-file.ts";
import { loadTokenizer } from "../tokenizer/load.ts";
import { type BuiltPrompts, buildPrompts } from "./build-prompts.ts";
import { checkDemonstrations } from "./check-demonstrations.ts";
import { checkWindow } from "./check-window.ts";
import type { PlanInput } from "./plan.ts";
import { type ResolvedModel, resolveModel } from "./resolve-model.ts";
import { selectQuestions } from "./select-questions.ts";
import { loadOrBuildSplit } from "./split.ts";

export interface PrepareRequest {
  readonly loaded: LoadedRecipe;
  readonly checkpoints: string;
  /** One fold only, instead of what the recipe says. */
  readonly fold?: number;
  /** `unneeded`: of a hub model only the tokenizer and config.json are fetched; every key is the same. */
  readonly weights?: "needed" | "unneeded";
  readonly say: (line: string) => void;
  readonly stop?: AbortSignal;
  readonly kill?: AbortSignal;
}

/** Everything a plan rests on, read and checked; `plan` is the input of planStages. */
export interface Prepared {
  readonly set: QuestionSet;
  readonly manifest: FoldManifest;
  readonly model: ResolvedModel;
  readonly prompts: BuiltPrompts;
  readonly plan: PlanInput;
}

export async function prepare(request: PrepareRequest): Promise<Prepared> {
  const { loaded, checkpoints, say } = request;
  const { recipe } = loaded;
  const set = await prepareQuestions(request);
  refuseIfStopped(request.stop);
  const { manifest, folds } = await prepareSplit(request, set);
  const model = await prepareModel(request);
  const tokenizer = await loadTokenizer(model.path);
  const prompts = await buildPrompts({
    recipe,
    set,
    tokenizer,
    checkpoints,
    onQuestion: () => refuseIfStopped(request.stop),
  });
  await checkWindow(model.path, prompts.file);
  const built = prompts.reused ? ", as built before" : "";
  say(`prompts: ${set.questions.length * 2} presentations${built}, ${prompts.cut} cut`);
  const plan: PlanInput = {
    recipe,
    set,
    manifest,
    splitDigest: sha256Hex(canonicalJson(manifest)),
    model: { source: model.source, revision: model.revision, digest: model.digest },
    tokenizerDigest: tokenizer.digest,
    promptsFile: prompts.file,
    promptDigests: prompts.digests,
    folds,
    allFolds: recipeFolds(recipe, manifest.k),
    checkpoints,
  };
  return { set, manifest, model, prompts, plan };
}

async function prepareQuestions({ loaded, say }: PrepareRequest): Promise<QuestionSet> {
  const { recipe } = loaded;
  const options = { cacheDir: cacheFolder(), env: process.env, warn: say };
  const set = selectQuestions(await readQuestions(recipe.questions.source, options), recipe);
  say(`questions: ${set.questions.length} of ${recipe.questions.source}, digest ${set.digest.slice(0, 12)}`);
  return set;
}

async function prepareSplit(request: PrepareRequest, set: QuestionSet) {
  const { k, seed, near_duplicate, manifest: manifestFile } = request.loaded.recipe.split;
  const manifest = await loadOrBuildSplit({ set, k, seed, nearDuplicate: near_duplicate, manifestFile });
  const folds = foldsToRun(request, manifest.k);
  checkDemonstrations(set, manifest, folds);
  request.say(
    `split: ${manifest.k} folds over ${manifest.groups.length} task groups, running ${folds.join(", ")}`,
  );
  return { manifest, folds };
}

async function prepareModel(request: PrepareRequest): Promise<ResolvedModel> {
  const model = await resolveRecipeModel(request);
  request.say(`model: ${model.source} (${model.architecture}), digest ${model.digest.slice(0, 24)}`);
  return model;
}

/** The recipe's model on this machine, or what `weights` asks of it. */
export function resolveRecipeModel(request: PrepareRequest): Promise<ResolvedModel> {
  return resolveModel({
    ...request.loaded.recipe.model,
    cacheDir: cacheFolder(),
    checkpoints: request.checkpoints,
    tokenizerOnly: request.weights === "unneeded",
    ...(request.stop && { stop: request.stop }),
    ...(request.kill && { kill: request.kill }),
  });
}

/** Of a split into k: the one asked for, those of the recipe, or all. */
export function foldsToRun({ fold, loaded }: PrepareRequest, k: number): readonly number[] {
  const folds = recipeFolds(loaded.recipe, k);
  if (fold === undefined) return folds;
  if (folds.includes(fold)) return [fold];
  throw new UsageError(`--fold ${fold}: this recipe runs the folds ${folds.join(", ")}.`, {
    facts: { fold },
  });
}

/** A given manifest has its own k, which need not be the recipe's. */
function recipeFolds(recipe: Recipe, k: number): readonly number[] {
  const folds = recipe.split.folds ?? Array.from({ length: k }, (_, index) => index);
  const outside = folds.find((fold) => fold >= k);
  if (outside === undefined) return folds;
  throw new RecipeError(`split.folds names fold ${outside}, but the split has ${k} folds.`, {
    nextStep: `Folds count from 0 to ${k - 1}.`,
    facts: { fold: outside, k },
  });
}

/** Ctrl-C between two steps of the preparation: nothing is lost, since nothing has been computed. */
function refuseIfStopped(stop: AbortSignal | undefined): void {
  if (stop?.aborted !== true) return;
  throw new StoppedError("Stopped before anything was computed.", {
    nextStep: "Run the same command again.",
  });
}
