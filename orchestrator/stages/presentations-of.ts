import { cacheFolder } from "../cache-folder.ts";
import { DataError } from "../errors.ts";
import type { Presentation } from "../prompts/presentations.ts";
import { readQuestions } from "../questions/read.ts";
import type { Recipe } from "../recipe.ts";
import { loadTokenizer } from "../tokenizer/load.ts";
import { renderQuestion } from "./build-prompts.ts";
import { resolveModel } from "./resolve-model.ts";

export interface PresentationsRequest {
  readonly recipe: Recipe;
  readonly id: string;
  readonly checkpoints: string;
  readonly warn: (line: string) => void;
}

/**
 * Both presentations of one question exactly as a run of this recipe gives them to the model.
 * @throws DataError when the set has no such question.
 */
export async function presentationsOf(request: PresentationsRequest): Promise<Presentation[]> {
  const { recipe, id, checkpoints, warn } = request;
  const cacheDir = cacheFolder();
  const set = await readQuestions(recipe.questions.source, { cacheDir, env: process.env, warn });
  const question = set.questions.find((candidate) => candidate.id === id);
  if (question === undefined) {
    throw new DataError(`${set.source}: there is no question ${JSON.stringify(id)}.`, {
      nextStep: `Ids look like ${JSON.stringify(set.questions[0]?.id)}.`,
      facts: { source: set.source, id },
    });
  }
  const model = await resolveModel({ ...recipe.model, cacheDir, checkpoints, tokenizerOnly: true });
  const tokenizer = await loadTokenizer(model.path);
  return renderQuestion({ recipe, set, tokenizer, checkpoints }, question);
}
