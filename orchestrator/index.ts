/** The library: what a program needs to do what the commands do. */
export { canonicalJson, sha256Hex } from "./canonical.ts";
export { PalateError } from "./errors.ts";
export { auditManifest } from "./folds/audit.ts";
export { buildManifest } from "./folds/build.ts";
export { type FoldManifest, parseManifest } from "./folds/manifest.ts";
export { buildPresentations, type Presentation } from "./prompts/presentations.ts";
export { checkQuestions } from "./questions/check.ts";
export { readQuestions } from "./questions/read.ts";
export type { Question, QuestionSet } from "./questions/schema.ts";
export { type Recipe, type RecipeInput, recipeSchema } from "./recipe.ts";
export { loadRecipe, parseRecipe } from "./recipe-file.ts";
export { readAnswer } from "./scoring/answer.ts";
export { scorePairs } from "./scoring/paired-order.ts";
export { type RunSummary, summariseRun } from "./scoring/run-summary.ts";
export { runRecipe } from "./stages/run.ts";
export { loadTokenizer } from "./tokenizer/load.ts";
