import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Path of a file of a copied case. */
export function casePath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/cases/${name}`, import.meta.url));
}

/** Rows of a well-formed JSONL file of a case; `T` is what the test knows of its layout. */
export function caseRows<T>(name: string): T[] {
  return readFileSync(casePath(name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): T => JSON.parse(line));
}
