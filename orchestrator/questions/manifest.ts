import { readFile } from "node:fs/promises";
import { z } from "zod";
import { DataError } from "../errors.ts";
import { type Fault, faultsError } from "./faults.ts";
import { decodeUtf8 } from "./lines.ts";
import { isRowFile } from "./rows.ts";
import { reportIssue } from "./validate.ts";

export const MANIFEST_FILE = "export_manifest.json";

const PUBLISHED = "Take the manifest of the release as it was published.";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits");
const count = z.int().min(0);

const domainSchema = z.strictObject({
  path: z
    .string()
    .refine(staysInside, "must be a path inside the release folder")
    .refine(isRowFile, "must be a parquet or JSONL file"),
  n_rows: count,
  sha256,
  cells: z.record(z.string(), count),
});

const manifestSchema = z.strictObject({
  schema_version: z.literal(1),
  release: z.string().min(1),
  source_release_manifest_sha256: sha256,
  seed: z.union([z.string().min(1), z.int()]),
  canary: z.string().min(1),
  domains: z
    .strictObject({ engineering: domainSchema.optional(), research: domainSchema.optional() })
    .refine((domains) => Object.keys(domains).length > 0, "names no domain"),
  generated_at: z.string().min(1),
});

/** export_manifest.json of a v1.0 release: what each data file must be (Taste-Bench export, schema_version 1). */
export type Manifest = z.infer<typeof manifestSchema>;

export interface ManifestEntry extends z.infer<typeof domainSchema> {
  readonly domain: "engineering" | "research";
}

/**
 * The parsed manifest, called `shown` in messages. DataError on any unknown key, and on a path that leaves the
 * folder, before any data file is opened.
 */
export async function readManifest(file: string, shown = file): Promise<Manifest> {
  const value = parseJson(await readFile(file), shown);
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults: Fault[] = [];
  for (const issue of parsed.error.issues) {
    reportIssue(issue, value, (columns, message) => {
      faults.push({ file: shown, at: "manifest", columns, message });
    });
  }
  throw faultsError(faults, PUBLISHED);
}

/** The data files in a fixed order. */
export function manifestEntries({ domains }: Manifest): ManifestEntry[] {
  const entries: ManifestEntry[] = [];
  if (domains.engineering !== undefined) entries.push({ domain: "engineering", ...domains.engineering });
  if (domains.research !== undefined) entries.push({ domain: "research", ...domains.research });
  return entries;
}

/** No absolute path, drive, backslash, `.` or `..`: the manifest comes from whoever made the data. */
function staysInside(path: string): boolean {
  if (path.includes("\\") || path.includes("\0") || /^[A-Za-z]:/.test(path)) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

function parseJson(bytes: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(decodeUtf8(bytes).replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new DataError(`${file}: is not JSON in UTF-8 (${String(error).slice(0, 120)}).`, {
      nextStep: PUBLISHED,
      facts: { file },
      cause: error,
    });
  }
}
