// A real run on real forks: recipes/smollm2-135m.yaml on another question set, both folds.
// Usage: node bench/forks-mini.mjs [folder, default ../shared/data/forks-mini]. The questions are not part of this
// repository. No bar: a model of this size has no taste to speak of; what is shown is that every stage completes.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { benchRecipe, ROOT } from "./run-recipe.mjs";

const source = resolve(process.argv[2] ?? join(ROOT, "..", "shared", "data", "forks-mini"));
const recipe = parse(readFileSync(join(ROOT, "recipes", "smollm2-135m.yaml"), "utf8"));
recipe.questions.source = source;
const file = join(mkdtempSync(join(tmpdir(), "palate-forks-")), "forks-mini.yaml");
writeFileSync(file, stringify(recipe));
await benchRecipe({ name: "forks-mini", recipe: file });
