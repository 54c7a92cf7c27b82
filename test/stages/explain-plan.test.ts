import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { planLines } from "../../orchestrator/commands/plan-lines.ts";
import { UsageError } from "../../orchestrator/errors.ts";
import { loadRecipe } from "../../orchestrator/recipe-file.ts";
import { tableLengths, writePrompts } from "../../orchestrator/runs/prompts-file.ts";
import { readRun } from "../../orchestrator/runs/run-file.ts";
import { estimatePlan, explainPlan } from "../../orchestrator/stages/explain-plan.ts";
import { meanPasses } from "../../orchestrator/stages/stage-work.ts";
import { emptyCheckpoints, runTiny, tinyRecipe } from "./tiny-recipe.ts";

const machine = { fusedKernels: false };
const quiet = { machine, say: () => undefined };

describe("a plan before anything has run", () => {
  it("names the stages by the keys that the run then gives them, and the run finds them planned", async () => {
    const checkpoints = await emptyCheckpoints();
    const request = { loaded: tinyRecipe(), checkpoints, ...quiet };
    const before = await explainPlan(request);
    const { name } = await runTiny(checkpoints);
    const run = await readRun(checkpoints, name);
    expect(before.stages.map(({ key }) => key)).toEqual(run.stages.map(({ key }) => key));
    expect(before.stages.map(({ state }) => state)).not.toContain("done");
    const after = await explainPlan(request);
    expect(new Set(after.stages.map(({ state }) => state))).toEqual(new Set(["done"]));
    expect(after.tokens_to_compute).toBe(0);
    expect(after.hours_to_compute.at_40_percent).toBe(0);
  }, 120_000);

  it("counts tokens, hours and memory of each stage, and fewer tokens when none is computed twice", async () => {
    const plan = await explainPlan({ loaded: tinyRecipe(), checkpoints: await emptyCheckpoints(), ...quiet });
    expect(plan.fits).toBe(true);
    expect(plan.accelerator.name).toBe("cpu");
    for (const stage of plan.stages) {
      expect(stage.unique_tokens).toBeLessThan(stage.tokens);
      expect(stage.hours.at_30_percent).toBeGreaterThan(stage.hours.at_50_percent);
      const { total, host, ...parts } = stage.memory;
      expect(host).toBe(0);
      expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 0);
    }
  });
});

describe("an estimate without questions", () => {
  const questions = { count: 390, promptTokens: 8500, longestTokens: 16_000 };

  it("of the 27B recipe needs no network, no tokenizer and no weights", async () => {
    const loaded = await loadRecipe("qwen3.6-27b-a100");
    const plan = await estimatePlan({ loaded, checkpoints: "nowhere", ...quiet, questions });
    expect(plan.model.parameters / 1e9).toBeCloseTo(26.9, 1);
    expect(plan.model.sizes_from).toContain("model card");
    expect(plan.accelerator.name).toBe("a100-80gb");
    expect(plan.stages).toHaveLength(12);
    expect(plan.stages.every(({ key, state }) => key === null && state === "assumed")).toBe(true);
  });

  it("has the same stages and nearly the same figures as the plan of a set of such questions", async () => {
    const checkpoints = await emptyCheckpoints();
    const loaded = tinyRecipe();
    const plan = await explainPlan({ loaded, checkpoints, ...quiet });
    const base = plan.stages[0];
    const reply = 2 + 8;
    const mean = Math.round((base?.tokens ?? 0) / 8 - reply);
    const assumed = { count: 8, promptTokens: mean, longestTokens: mean };
    const estimate = await estimatePlan({ loaded, checkpoints, ...quiet, questions: assumed });
    expect(estimate.stages.map(({ label }) => label)).toEqual(plan.stages.map(({ label }) => label));
    expect(Math.abs((estimate.stages[0]?.flops ?? 0) / (base?.flops ?? 1) - 1)).toBeLessThan(0.02);
  });

  it("refuses fewer questions than folds", async () => {
    const few = { ...questions, count: 1 };
    const request = { loaded: tinyRecipe(), checkpoints: "nowhere", ...quiet, questions: few };
    await expect(estimatePlan(request)).rejects.toThrow(UsageError);
  });

  it("is printed in 100 columns, with every part of the memory", async () => {
    const loaded = await loadRecipe("qwen3.6-27b-a100");
    const lines = planLines(
      await estimatePlan({
        loaded,
        checkpoints: "nowhere",
        ...quiet,
        questions: { ...questions, count: 9e6 },
      }),
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    const text = lines.join("\n");
    for (const part of [
      "weights",
      "LoRA + optimizer",
      "stored",
      "layer",
      "loss chunk",
      "KV cache",
      "total",
    ]) {
      expect(text).toContain(part);
    }
  });
});

describe("what a plan counts with", () => {
  it("is the tokens that all prompts of a side begin with", async () => {
    const file = join(await emptyCheckpoints(), "prompts.arrow");
    const row = {
      question_id: "q",
      supported: "A",
      demonstration_ids: [],
      student_text: "",
      teacher_text: "",
      opens_thinking: false,
    } as const;
    await writePrompts(file, [
      { ...row, order: "published", student_ids: [1, 2, 3, 4], teacher_ids: [1] },
      { ...row, order: "reversed", student_ids: [1, 2, 9, 4, 5], teacher_ids: [1, 2] },
    ]);
    expect((await tableLengths(file)).get("q")).toEqual({
      student: { prompts: [4, 5], shared: 2 },
      teacher: { prompts: [1, 2], shared: 1 },
    });
  });

  it("is the epochs, less what max_steps leaves out", () => {
    const recipe = { epochs: 2, questions_per_step: 4, max_steps: null };
    expect(meanPasses(10, recipe)).toBe(2);
    expect(meanPasses(10, { ...recipe, max_steps: 1 })).toBe(0.4);
    expect(meanPasses(10, { ...recipe, max_steps: 4 })).toBe(1.4);
    expect(meanPasses(10, { ...recipe, max_steps: 100 })).toBe(2);
  });
});
