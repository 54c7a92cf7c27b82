// The positive control: recipes/control.yaml, both folds, SmolLM2-135M (under an hour on 2 cores).
// Needs a build and the set-up (npm start does both). Prints one JSON line; results/control.json holds the last one.
import { benchRecipe } from "./run-recipe.mjs";

const { base, calibrated, delta } = await benchRecipe({ name: "control", recipe: "control" });
const holds = base.both_orders_rate <= 0.05 && calibrated.both_orders_rate >= 0.8 && delta.ci[0] > 0.5;
process.exit(holds ? 0 : 1);
