import { describe, expect, it } from "vitest";
import { questionsDigest } from "../../orchestrator/questions/digest.ts";
import { readQuestions } from "../../orchestrator/questions/read.ts";
import { selectQuestions } from "../../orchestrator/stages/select-questions.ts";
import { tinyRecipe } from "./tiny-recipe.ts";

const set = await readQuestions("bundled:control", { cacheDir: "unused" });

function select(questions: { domain?: "engineering" | "research"; max_tasks?: number }) {
  return selectQuestions(set, tinyRecipe({ questions: { source: "bundled:control", ...questions } }).recipe);
}

describe("the questions that a recipe takes", () => {
  it("are all of them when it says nothing", () => {
    expect(select({}).digest).toBe(set.digest);
  });

  it("are those of one domain, with a digest and reasons of their own", () => {
    const taken = select({ domain: "research" });
    expect(taken.questions).toHaveLength(160);
    expect(taken.questions.every(({ domain }) => domain === "research")).toBe(true);
    expect(taken.digest).toBe(questionsDigest(taken.questions));
    expect(taken.reasons.size).toBe(160);
  });

  it("are whole tasks, the same ones each time", () => {
    const taken = select({ max_tasks: 5 });
    expect(new Set(taken.questions.map(({ task_id }) => task_id)).size).toBe(5);
    expect(taken.questions).toHaveLength(20);
    expect(select({ max_tasks: 5 }).digest).toBe(taken.digest);
  });

  it("are refused when none is left", () => {
    const research = select({ domain: "research" });
    const { recipe } = tinyRecipe({ questions: { source: "bundled:control", domain: "engineering" } });
    expect(() => selectQuestions(research, recipe)).toThrow(/leaves none of the 160 questions/);
  });
});
