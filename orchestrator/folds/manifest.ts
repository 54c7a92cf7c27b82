import { z } from "zod";
import { DataError, UsageError } from "../errors.ts";

const id = z.string().min(1);
const count = z.int().min(0);
const share = z.number().min(0).max(1);
const version = z.literal(1);

const joinSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("same_issue"), a: id, b: id }),
  z.strictObject({ kind: z.literal("near_duplicate"), a: id, b: id, jaccard: share }),
]);

const overlapSchema = z.strictObject({ jaccard: share, own_jaccard: share, a: id, b: id });

/** Ids are values, never keys: a task may be called `__proto__`, or 10. */
export const foldManifestSchema = z
  .strictObject({
    schema_version: version,
    data_digest: z.string().regex(/^[0-9a-f]{64}$/),
    k: z.int().min(2),
    seed: count,
    rules: z.strictObject({
      same_task: z.strictObject({ version }),
      same_issue: z.strictObject({ version, min_words: count }),
      near_duplicate: z.strictObject({
        version,
        shingle_words: z.int().min(1),
        threshold: share,
        max_sharing_tasks: count,
      }),
      assignment: z.strictObject({ version }),
    }),
    groups: z.array(
      z.strictObject({ fold: count, n: count, tasks: z.array(id).min(1), joins: z.array(joinSchema) }),
    ),
    folds: z.array(
      z.strictObject({
        fold: count,
        n: count,
        n_tasks: count,
        cells: z.array(z.strictObject({ cell: id, n: count })),
        held_out: z.array(id).min(1),
      }),
    ),
    audit: z.strictObject({
      largest_overlap: overlapSchema.nullable(),
      template: z.strictObject({ runs: count, tasks: count }),
    }),
  })
  .refine(({ k, folds }) => folds.length === k && folds.every(({ fold }, index) => fold === index), {
    path: ["folds"],
    message: "must be the folds 0 to k - 1, in this order",
  })
  .readonly();

/**
 * A k-fold split. `folds[f].held_out` are the question ids scored by the checkpoint that trained on all other
 * folds. `audit.largest_overlap` is the pair of tasks on two sides whose texts share most word runs: `jaccard`
 * over all runs, `own_jaccard` without those of templates.
 */
export type FoldManifest = z.infer<typeof foldManifestSchema>;

export type FoldJoin = FoldManifest["groups"][number]["joins"][number];
export type Overlap = NonNullable<FoldManifest["audit"]["largest_overlap"]>;

/** The manifest in a file's text; `file` names it in the error. Throws DataError. */
export function parseManifest(json: string, { file }: { readonly file: string }): FoldManifest {
  const parsed = foldManifestSchema.safeParse(parseJson(json, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DataError(
    `${file} is no fold manifest: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`,
    {
      nextStep: NEXT_STEP,
      facts: { file, column: issue?.path.join(".") ?? "" },
    },
  );
}

/** One id a line, so that two manifests can be compared with `diff`. */
export function formatManifest(manifest: FoldManifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** Question ids scored by the checkpoint of this fold. */
export function heldOutIds(manifest: FoldManifest, fold: number): readonly string[] {
  requireFold(manifest, fold);
  return manifest.folds.flatMap((entry) => (entry.fold === fold ? entry.held_out : []));
}

/** Question ids that the checkpoint of this fold trains on: all others. */
export function trainIds(manifest: FoldManifest, fold: number): readonly string[] {
  requireFold(manifest, fold);
  return manifest.folds.flatMap((entry) => (entry.fold === fold ? [] : entry.held_out));
}

/** The fold in which each task is held out. */
export function foldOfTasks(manifest: Pick<FoldManifest, "groups">): ReadonlyMap<string, number> {
  return new Map(manifest.groups.flatMap(({ fold, tasks }) => tasks.map((task) => [task, fold] as const)));
}

const NEXT_STEP = "Build one with `palate folds build`.";

function parseJson(json: string, file: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new DataError(`${file} is no JSON.`, { nextStep: NEXT_STEP, facts: { file }, cause });
  }
}

function requireFold(manifest: FoldManifest, fold: number): void {
  if (manifest.folds.some((entry) => entry.fold === fold)) return;
  throw new UsageError(`There is no fold ${fold}: the split has folds 0 to ${manifest.k - 1}.`, {
    nextStep: "Name one of them.",
    facts: { fold, k: manifest.k },
  });
}
