import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { RunError } from "../errors.ts";
import { recipeSchema } from "../recipe.ts";
import { writeJsonAtomic } from "./atomic-file.ts";

const runSchema = z.strictObject({
  name: z.string(),
  recipe_name: z.string(),
  recipe: recipeSchema,
  data: z.strictObject({ source: z.string(), digest: z.string(), n: z.int(), tasks: z.int() }),
  split_digest: z.string(),
  folds: z.array(z.int()),
  model: z.strictObject({
    source: z.string(),
    revision: z.string().nullable(),
    digest: z.string(),
    architecture: z.string(),
  }),
  stages: z.array(
    z.strictObject({ stage: z.string(), key: z.string(), label: z.string(), fold: z.int().nullable() }),
  ),
  status: z.enum(["running", "stopped", "failed", "done"]),
  /** Folder names below checkpoints/jobs, oldest first. */
  jobs: z.array(z.string()),
  started_at: z.string(),
  updated_at: z.string(),
  /** Seconds of all attempts together. */
  seconds: z.number(),
  message: z.string().nullable(),
});

/** run.json: names the stages of a run; the stages themselves may be shared with other runs. */
export type RunFile = z.infer<typeof runSchema>;

export function runFolder(checkpoints: string, name: string): string {
  return join(checkpoints, "runs", name);
}

export async function writeRun(checkpoints: string, run: RunFile): Promise<void> {
  await writeJsonAtomic(join(runFolder(checkpoints, run.name), "run.json"), run);
}

/** @throws RunError when there is no such run; `latest` is the one touched last. */
export async function readRun(checkpoints: string, name: string): Promise<RunFile> {
  const wanted = name === "latest" ? await latestRun(checkpoints) : name;
  const file = join(runFolder(checkpoints, wanted ?? "latest"), "run.json");
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new RunError(
      wanted === undefined ? `No run yet in ${checkpoints}.` : `No run ${wanted} in ${checkpoints}.`,
      {
        nextStep: "palate status lists the runs; palate run <recipe> starts one.",
        facts: { file },
        cause,
      },
    );
  });
  return runSchema.parse(JSON.parse(text));
}

/** Every run folder that holds a run.json, the one touched last first. */
export async function listRuns(checkpoints: string): Promise<RunFile[]> {
  const names = await readdir(join(checkpoints, "runs")).catch(() => []);
  const files = await Promise.all(names.map((name) => touchedAt(checkpoints, name)));
  const found = files.filter((file) => file.time > 0).sort((a, b) => b.time - a.time);
  return Promise.all(found.map(({ name }) => readRun(checkpoints, name)));
}

async function latestRun(checkpoints: string): Promise<string | undefined> {
  return (await listRuns(checkpoints))[0]?.name;
}

async function touchedAt(checkpoints: string, name: string): Promise<{ name: string; time: number }> {
  const file = join(runFolder(checkpoints, name), "run.json");
  return stat(file).then(
    ({ mtimeMs }) => ({ name, time: mtimeMs }),
    () => ({ name, time: 0 }),
  );
}
