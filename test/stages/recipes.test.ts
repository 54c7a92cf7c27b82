import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type LoadedRecipe, loadRecipe } from "../../orchestrator/recipe-file.ts";
import { emptyCheckpoints, runTiny } from "./tiny-recipe.ts";

const folder = fileURLToPath(new URL("../../recipes/", import.meta.url));
const names = readdirSync(folder).flatMap((name) =>
  name.endsWith(".yaml") ? [name.replace(".yaml", "")] : [],
);

/** The recipe on random weights and few short questions, in two steps a stage; templates and losses stay its own. */
function shrink(loaded: LoadedRecipe, source: string): LoadedRecipe {
  const { recipe } = loaded;
  const twoSteps = { epochs: 1, questions_per_step: 1, max_steps: 2 };
  return {
    ...loaded,
    recipe: {
      ...recipe,
      model: { source, revision: null, dtype: "float32" },
      questions: {
        source: "bundled:control",
        prefix: "prefix_text_short",
        domain: recipe.questions.domain,
        max_tasks: 2,
      },
      split: { ...recipe.split, folds: [0] },
      prompts: { ...recipe.prompts, student_tokens: 2048, teacher_tokens: 2048 },
      reply: { max_reasoning_tokens: Math.min(recipe.reply.max_reasoning_tokens, 2), choice: "letters" },
      generate: { ...recipe.generate, traces: 2, sampling: { ...recipe.generate.sampling, temperature: 1 } },
      distil: { ...recipe.distil, optimizer: { ...recipe.distil.optimizer, ...twoSteps } },
      calibrate: recipe.calibrate && {
        ...recipe.calibrate,
        optimizer: { ...recipe.calibrate.optimizer, ...twoSteps },
      },
      execution: { ...recipe.execution, device: "cpu", threads: 1 },
    },
  };
}

describe("every recipe takes two training steps on random weights", () => {
  it.each(names.flatMap((name) => ["tiny:llama", "tiny:qwen3_5"].map((source) => [name, source] as const)))(
    "%s on %s",
    async (name, source) => {
      const loaded = shrink(await loadRecipe(name), source);
      const run = await runTiny(await emptyCheckpoints(), { loaded });
      expect(run.events.filter((event) => event === "step")).toHaveLength(loaded.recipe.calibrate ? 4 : 2);
      expect(run.summary.pooled.distilled?.n).toBe(run.summary.pooled.base?.n);
    },
    180_000,
  );
});
