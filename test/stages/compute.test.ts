import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { computeStages, pendingStages } from "../../orchestrator/stages/compute.ts";
import { planStages } from "../../orchestrator/stages/plan.ts";
import { prepare } from "../../orchestrator/stages/prepare.ts";
import { emptyCheckpoints, tinyRecipe } from "./tiny-recipe.ts";

it("a job that ends well without a result has failed, and nothing is skipped as done (case 21)", async () => {
  const checkpoints = await emptyCheckpoints();
  const loaded = tinyRecipe();
  const prepared = await prepare({ loaded, checkpoints, say: () => undefined });
  const stages = planStages(prepared.plan);
  const quiet = join(checkpoints, "quiet python");
  await writeFile(quiet, "#!/bin/sh\nexit 0\n");
  await chmod(quiet, 0o755);
  vi.stubEnv("PALATE_PYTHON", quiet);
  onTestFinished(() => void vi.unstubAllEnvs());
  const computed = computeStages({
    stages: stages.filter(({ task }) => task.stage === "distil"),
    recipe: loaded.recipe,
    model: prepared.model,
    checkpoints,
    onJob: async () => undefined,
    onEvent: () => undefined,
  });
  await expect(computed).rejects.toThrow(/no adapter was written/);
  expect(await pendingStages(stages)).toHaveLength(stages.length);
});
