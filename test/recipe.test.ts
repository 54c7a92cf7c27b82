import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { RecipeError } from "../orchestrator/errors.ts";
import { recipeJsonSchema, recipeSchema } from "../orchestrator/recipe.ts";
import { loadRecipe, parseRecipe } from "../orchestrator/recipe-file.ts";

const folder = fileURLToPath(new URL("../recipes/", import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const minimal = "model: { source: tiny:llama }\nquestions: { source: bundled:control }\n";

describe("every recipe in the repository", () => {
  it.each(names)("%s loads and round-trips", async (name) => {
    const { recipe } = await loadRecipe(name.replace(".yaml", ""));
    expect(recipeSchema.parse(JSON.parse(JSON.stringify(recipe)))).toEqual(recipe);
    expect(parseRecipe(stringify(recipe), name)).toEqual(recipe);
  });

  it("the editors' schema is the one of the code", () => {
    expect(JSON.parse(readFileSync(`${folder}schema.json`, "utf8"))).toEqual(recipeJsonSchema());
  });
});

describe("a recipe that is wrong", () => {
  it.each([
    ["distill: {}", /distill: unknown key; did you mean distil\?/],
    [
      "distil: { optimizer: { learning_rat: 1 } }",
      /distil\.optimizer\.learning_rat.*did you mean learning_rate/,
    ],
    ["calibrate: { los: {} }", /calibrate\.los: unknown key; did you mean loss/],
    ["distil: { optimizer: { learning_rate: -1 } }", /distil\.optimizer\.learning_rate/],
    ["split: { k: 2, folds: [2] }", /fold 2, but split\.k is 2/],
    ["seed: .nan", /seed/],
    ["model: {", /flow|map|end/i],
  ])("%s is refused by name", (line, message) => {
    const text = line.startsWith("model") ? line : `${minimal}${line}\n`;
    expect(() => parseRecipe(text, "mine.yaml")).toThrow(message);
    expect(() => parseRecipe(text, "mine.yaml")).toThrow(RecipeError);
  });

  it("a recipe that does not exist names the place it was looked for", async () => {
    await expect(loadRecipe("no-such-recipe")).rejects.toThrow(/no-such-recipe\.yaml/);
  });

  it("calibrate: null turns the pass off", () => {
    expect(parseRecipe(`${minimal}calibrate: null\n`, "mine.yaml").calibrate).toBeNull();
  });
});
