import { DataError } from "../errors.ts";
import { readJsonl } from "./jsonl.ts";
import { readParquet } from "./parquet.ts";
import type { RawRow } from "./raw-row.ts";

const READERS: readonly (readonly [ending: string, read: (file: string) => AsyncIterable<RawRow>])[] = [
  [".parquet", readParquet],
  [".jsonl", readJsonl],
  [".jsonl.gz", readJsonl],
];

/** The rows of one data file, by the ending of its name. DataError for another ending. */
export function readRows(file: string): AsyncIterable<RawRow> {
  const read = readerOf(file);
  if (read !== undefined) return read(file);
  throw new DataError(`${file}: not a form that questions are read from.`, {
    nextStep: `Give a file that ends in ${READERS.map(([ending]) => ending).join(", ")}, a release folder, or hub:owner/name.`,
    facts: { file },
  });
}

export function isRowFile(file: string): boolean {
  return readerOf(file) !== undefined;
}

function readerOf(file: string) {
  return READERS.find(([ending]) => file.endsWith(ending))?.[1];
}
