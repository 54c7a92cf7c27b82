import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecipeInput } from "../../orchestrator/recipe.ts";
import { recipeSchema } from "../../orchestrator/recipe.ts";
import type { LoadedRecipe } from "../../orchestrator/recipe-file.ts";
import { type FinishedRun, type RunRequest, runRecipe } from "../../orchestrator/stages/run.ts";

/** A whole run on random weights in seconds: eight questions, one fold, two steps a stage. */
export function tinyRecipe(changes: Partial<RecipeInput> = {}): LoadedRecipe {
  const training = { optimizer: { questions_per_step: 1, max_steps: 2 } };
  const recipe = recipeSchema.parse({
    model: { source: "tiny:llama" },
    questions: { source: "bundled:control", max_tasks: 2, prefix: "prefix_text_short" },
    split: { folds: [0] },
    prompts: { teacher_template: "stated-answer", reasoning: "none" },
    reply: { max_reasoning_tokens: 2, choice: "letters" },
    generate: { traces: 2, sampling: { temperature: 1 } },
    distil: training,
    calibrate: training,
    execution: { threads: 1, checkpoint_every_steps: 1 },
    ...changes,
  } satisfies RecipeInput);
  return { name: "tiny", file: "tiny.yaml", recipe };
}

export async function emptyCheckpoints(): Promise<string> {
  return mkdtemp(join(tmpdir(), "palate runs é "));
}

export async function runTiny(
  checkpoints: string,
  { loaded = tinyRecipe(), ...changes }: Partial<RunRequest> = {},
): Promise<FinishedRun & { readonly said: string[]; readonly events: string[] }> {
  const said: string[] = [];
  const events: string[] = [];
  const finished = await runRecipe({
    loaded,
    checkpoints,
    say: (line) => said.push(line),
    onPlan: () => undefined,
    onEvent: ({ event }) => events.push(event),
    ...changes,
  });
  return { ...finished, said, events };
}
