import { cacheFolder } from "../cache-folder.ts";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import { UsageError } from "../errors.ts";
import type { FoldManifest } from "../folds/manifest.ts";
import { readQuestions } from "../questions/read.ts";
import type { QuestionSet } from "../questions/schema.ts";
import type { LoadedRecipe } from "../recipe-file.ts";
import { loadTokenizer } from "../tokenizer/load.ts";
import { type BuiltPrompts, buildPrompts } from "./build-prompts.ts";
import { checkDemonstrations } from "./check-demonstrations.ts";
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
  const cacheDir = cacheFolder();
  const whole = await readQuestions(recipe.questions.source, { cacheDir, env: process.env, warn: say });
  const set = selectQuestions(whole, recipe);
  say(`questions: ${set.questions.length} of ${recipe.questions.source}, digest ${set.digest.slice(0, 12)}`);
  const manifest = await loadOrBuildSplit({
    set,
    k: recipe.split.k,
    seed: recipe.split.seed,
    nearDuplicate: recipe.split.near_duplicate,
    manifestFile: recipe.split.manifest,
  });
  const folds = foldsToRun(request, manifest.k);
  checkDemonstrations(set, manifest, folds);
  say(`split: ${manifest.k} folds over ${manifest.groups.length} task groups, running ${folds.join(", ")}`);
  const model = await resolveRecipeModel(request);
  say(`model: ${model.source} (${model.architecture}), digest ${model.digest.slice(0, 24)}`);
  const tokenizer = await loadTokenizer(model.path);
  const prompts = await buildPrompts({ recipe, set, tokenizer, checkpoints });
  say(
    `prompts: ${set.questions.length * 2} presentations${prompts.reused ? ", as built before" : ""}, ${prompts.cut} cut`,
  );
  return {
    set,
    manifest,
    model,
    prompts,
    plan: {
      recipe,
      set,
      manifest,
      splitDigest: sha256Hex(canonicalJson(manifest)),
      model: { source: model.source, revision: model.revision, digest: model.digest },
      tokenizerDigest: tokenizer.digest,
      promptsFile: prompts.file,
      promptDigests: prompts.digests,
      folds,
      checkpoints,
    },
  };
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
export function foldsToRun({ fold, loaded }: PrepareRequest, k: number): number[] {
  if (fold !== undefined && fold >= k) {
    throw new UsageError(`--fold ${fold}: this split has the folds 0 to ${k - 1}.`, { facts: { fold } });
  }
  if (fold !== undefined) return [fold];
  return loaded.recipe.split.folds ?? Array.from({ length: k }, (_, index) => index);
}
