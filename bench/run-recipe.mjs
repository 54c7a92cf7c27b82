import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Runs a recipe by its command, and keeps the pooled result with time and machine in results/<name>.json. */
export async function benchRecipe({ name, recipe, note }) {
  const begun = Date.now();
  const run = JSON.parse(await palate(["run", recipe, "--json"]));
  const status = JSON.parse(await palate(["status", run.name, "--json"]));
  const { base, distilled, calibrated, delta, delta_distilled } = run.pooled;
  const line = {
    bench: name,
    held_out: true,
    n: base.n,
    n_tasks: base.n_tasks,
    base: brief(base),
    distilled: brief(distilled),
    calibrated: brief(calibrated),
    delta: { estimate: delta.estimate, ci: delta.ci, p_sign_flip: delta.p_sign_flip },
    delta_distilled: { estimate: delta_distilled.estimate, ci: delta_distilled.ci },
    folds: run.folds.map((fold) => ({
      fold: fold.fold,
      n: fold.n,
      base: fold.base.both_orders_rate,
      distilled: fold.distilled.both_orders_rate,
      calibrated: fold.calibrated.both_orders_rate,
      delta: fold.delta && { estimate: fold.delta.estimate, ci: fold.delta.ci },
    })),
    // Of all attempts together, so that a resumed run counts whole.
    seconds: Math.round(status.seconds),
    seconds_this_time: Math.round((Date.now() - begun) / 1000),
    machine: `${cpus().length} x ${cpus()[0]?.model}, Node ${process.versions.node}`,
    ...(note === undefined ? {} : { note }),
  };
  writeFileSync(join(ROOT, "bench", "results", `${name}.json`), `${JSON.stringify(line, null, 1)}\n`);
  console.log(JSON.stringify(line));
  return line;
}

function brief({ both_orders_rate, ci, mean_accuracy, paired_outcomes, first_position_rate }) {
  return { both_orders_rate, ci, mean_accuracy, paired_outcomes, first_position_rate };
}

function palate(args) {
  const child = spawn(process.execPath, [join(ROOT, "dist", "cli.js"), ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const chunks = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("close", (code) =>
      code === 0
        ? resolve(Buffer.concat(chunks).toString("utf8"))
        : reject(new Error(`palate ended with ${code}`)),
    );
  });
}
