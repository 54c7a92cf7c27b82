// Writes recipes/schema.json from the zod schema; a test compares the two. Run after `npm run build`.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { recipeJsonSchema } from "../dist/recipe.js";

const file = fileURLToPath(new URL("../recipes/schema.json", import.meta.url));
writeFileSync(file, `${JSON.stringify(recipeJsonSchema(), null, 1)}\n`);
