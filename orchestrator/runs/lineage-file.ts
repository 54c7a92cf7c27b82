import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { RunError } from "../errors.ts";

/** lineage.json of an adapter: what it came from, all of it by hash. Written by palate_bridge/lineage.py. */
const lineageSchema = z.looseObject({
  stage: z.enum(["distil", "calibrate"]),
  key: z.string(),
  data_digest: z.string(),
  split_digest: z.string(),
  fold: z.int().nullable(),
  base: z.strictObject({ source: z.string(), revision: z.string().nullable(), digest: z.string() }),
  parents: z.array(z.strictObject({ stage: z.string(), key: z.string() })),
  question_ids: z.array(z.string()),
  seed: z.int(),
  versions: z.record(z.string(), z.string()),
  files: z.record(z.string(), z.string()),
});
export type Lineage = z.infer<typeof lineageSchema>;

export async function readLineage(stageFolder: string): Promise<Lineage> {
  const file = join(stageFolder, "adapter", "lineage.json");
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new RunError(`${file} is missing: this adapter cannot say what it was trained on.`, {
      nextStep: "Remove the stage folder; the stage is then computed again.",
      facts: { file },
      cause,
    });
  });
  return lineageSchema.parse(JSON.parse(text));
}
