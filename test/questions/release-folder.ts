import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256Hex } from "../../orchestrator/canonical.ts";
import { jsonl, question, temporaryFolder } from "./cases.ts";

const ENGINEERING = "data/engineering/test-00000-of-00001.jsonl";
const RESEARCH = "data/research/test-00000-of-00001.jsonl";

const SECOND = { id: "q-02", domain: "research", method: "parallel", cell: "parallel_research" } as const;

/** Two questions, one a domain, as the texts of the files of a release; `change` edits its manifest. */
export function releaseFiles(
  change: (manifest: ManifestJson) => void = () => undefined,
): Map<string, string> {
  const files = new Map([
    [ENGINEERING, jsonl([question()])],
    [RESEARCH, jsonl([question(SECOND)])],
  ]);
  const manifest: ManifestJson = {
    schema_version: 1,
    release: "test",
    source_release_manifest_sha256: "0".repeat(64),
    seed: 1,
    canary: question().canary,
    domains: {
      engineering: entry(files, ENGINEERING, { detour_engineering: 1 }),
      research: entry(files, RESEARCH, { parallel_research: 1 }),
    },
    generated_at: "2026-11-30T00:00:00Z",
  };
  change(manifest);
  return files.set("export_manifest.json", JSON.stringify(manifest));
}

/** The files in a folder of their own, which goes away with the test. */
export async function releaseFolder(files: ReadonlyMap<string, string>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

export interface ManifestJson {
  [key: string]: unknown;
  canary: string;
  domains: Record<"engineering" | "research", EntryJson>;
}

interface EntryJson {
  path: string;
  n_rows: number;
  sha256: string;
  cells: Record<string, number>;
}

function entry(files: ReadonlyMap<string, string>, path: string, cells: Record<string, number>): EntryJson {
  return { path, n_rows: 1, sha256: sha256Hex(files.get(path) ?? ""), cells };
}
