import { existsSync } from "node:fs";
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

/** @throws RunError when there is no such run, or its file is not one; `latest` is the one touched last. */
export async function readRun(checkpoints: string, name: string): Promise<RunFile> {
  const wanted = name === "latest" ? (await namesByTouch(checkpoints))[0] : name;
  const run = wanted === undefined ? undefined : await findRun(checkpoints, wanted);
  if (run !== undefined) return run;
  throw new RunError(
    wanted === undefined ? `No run yet in ${checkpoints}.` : `No run ${wanted} in ${checkpoints}.`,
    {
      nextStep: "palate status lists the runs; palate run <recipe> starts one.",
      facts: { checkpoints, run: name },
    },
  );
}

/** The run of this name, `undefined` when there is none. @throws RunError when its file cannot be read as one. */
export async function findRun(checkpoints: string, name: string): Promise<RunFile | undefined> {
  const file = join(runFolder(checkpoints, name), "run.json");
  if (!existsSync(file)) return undefined;
  const parsed = runSchema.safeParse(parseJson(await readFile(file, "utf8")));
  if (parsed.success) return parsed.data;
  const fault = parsed.error.issues[0];
  throw new RunError(`${file} is not a run of this version: ${fault?.path.join(".")}: ${fault?.message}`, {
    nextStep: "Rename this folder; the run is then written again, and its stages are found.",
    facts: { file },
  });
}

/** Every run, the one touched last first. One that cannot be read hides no other: it is given by its error. */
export async function listRuns(checkpoints: string): Promise<(RunFile | RunError)[]> {
  const names = await namesByTouch(checkpoints);
  return Promise.all(
    names.map((name) =>
      readRun(checkpoints, name).catch((error: unknown) => {
        if (error instanceof RunError) return error;
        throw error;
      }),
    ),
  );
}

async function namesByTouch(checkpoints: string): Promise<string[]> {
  const folder = join(checkpoints, "runs");
  const names = existsSync(folder) ? await readdir(folder) : [];
  const files = await Promise.all(names.map((name) => touchedAt(checkpoints, name)));
  const found = files.filter(({ time }) => time > 0).sort((a, b) => b.time - a.time);
  return found.map(({ name }) => name);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function touchedAt(checkpoints: string, name: string): Promise<{ name: string; time: number }> {
  const file = join(runFolder(checkpoints, name), "run.json");
  return existsSync(file) ? { name, time: (await stat(file)).mtimeMs } : { name, time: 0 };
}
