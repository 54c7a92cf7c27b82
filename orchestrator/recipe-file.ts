import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import leven from "leven";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { RecipeError } from "./errors.ts";
import { packageRoot } from "./package-root.ts";
import { type Recipe, recipeSchema } from "./recipe.ts";

/** A recipe and where it came from. */
export interface LoadedRecipe {
  readonly name: string;
  readonly file: string;
  readonly recipe: Recipe;
}

/**
 * Reads a recipe by path (`./mine.yaml`) or by the name of one that ships with Palate (`control`).
 * @throws RecipeError naming file, field and, for unknown keys, the nearest known one.
 */
export async function loadRecipe(nameOrPath: string): Promise<LoadedRecipe> {
  const file = /[/\\]|\.ya?ml$/.test(nameOrPath)
    ? nameOrPath
    : join(packageRoot(), "recipes", `${nameOrPath}.yaml`);
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new RecipeError(`No recipe at ${file}.`, {
      nextStep: "Give the path of a YAML file, or the name of one in recipes/.",
      facts: { file },
      cause,
    });
  });
  return { name: basename(file).replace(/\.ya?ml$/, ""), file, recipe: parseRecipe(text, file) };
}

export function parseRecipe(text: string, file: string): Recipe {
  const document = parseDocument(text, { lineCounter: new LineCounter() });
  const fault = document.errors[0];
  if (fault !== undefined) throw new RecipeError(`${file}: ${fault.message}`, { facts: { file } });
  const parsed = recipeSchema.safeParse(document.toJS());
  if (parsed.success) return checkFolds(parsed.data, file);
  const lines = parsed.error.issues.flatMap((issue) => issueLines(issue));
  throw new RecipeError(`${file} is not a recipe:\n${lines.map((line) => `  ${line}`).join("\n")}`, {
    nextStep: "Correct these fields; recipes/schema.json lists all of them.",
    facts: { file, faults: lines },
  });
}

function checkFolds(recipe: Recipe, file: string): Recipe {
  const { folds, manifest } = recipe.split;
  if (folds !== null && new Set(folds).size < folds.length) {
    throw new RecipeError(`${file}: split.folds names a fold twice: ${folds.join(", ")}.`, {
      facts: { file },
    });
  }
  // A manifest has its own k, known when it is read.
  const outside = manifest === null ? folds?.find((fold) => fold >= recipe.split.k) : undefined;
  if (outside === undefined) return recipe;
  throw new RecipeError(`${file}: split.folds names fold ${outside}, but split.k is ${recipe.split.k}.`, {
    nextStep: `Folds count from 0 to ${recipe.split.k - 1}.`,
    facts: { file, fold: outside, k: recipe.split.k },
  });
}

function issueLines(issue: z.core.$ZodIssue): string[] {
  if (issue.code !== "unrecognized_keys") return [`${issue.path.join(".") || "(top)"}: ${issue.message}`];
  const known = knownKeys(issue.path);
  return issue.keys.map((key) => {
    const nearest = [...known].sort((a, b) => leven(a, key) - leven(b, key))[0];
    const hint = nearest === undefined || leven(nearest, key) > 4 ? "" : `; did you mean ${nearest}?`;
    return `${[...issue.path, key].join(".")}: unknown key${hint}`;
  });
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly anyOf?: readonly SchemaNode[];
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  let node: SchemaNode | undefined = z.toJSONSchema(recipeSchema, { io: "input" }) as SchemaNode;
  for (const part of path) node = objectNode(node)?.properties?.[String(part)];
  return Object.keys(objectNode(node)?.properties ?? {});
}

function objectNode(node: SchemaNode | undefined): SchemaNode | undefined {
  return node?.properties === undefined
    ? node?.anyOf?.find((option) => option.properties !== undefined)
    : node;
}
