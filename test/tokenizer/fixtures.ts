import { cp, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const TINY = fixture("tokenizers/tiny-chatml");

export function fixture(path: string): string {
  return fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));
}

/** A model folder with the tiny tokenizer and other files over it; null takes a file out. */
export async function tinyWith(files: Readonly<Record<string, string | null>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "palate tokenizer é "));
  await cp(TINY, folder, {
    recursive: true,
    filter: (source) => files[source.slice(TINY.length + 1)] !== null,
  });
  const written = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== null);
  await Promise.all(written.map(([name, text]) => writeFile(join(folder, name), text)));
  return folder;
}
