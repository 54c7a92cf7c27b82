import { asyncBufferFromFile, type FileMetaData, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { DataError } from "../errors.ts";
import { decodeUtf8 } from "./lines.ts";
import type { RawRow } from "./raw-row.ts";

// hyparquet's own decoder drops a leading U+FEFF and turns broken bytes into U+FFFD.
const PARSERS = { stringFromBytes: textOrBytes };

/**
 * Streams the rows of a parquet file, one row group in memory at a time. 64-bit integers, which arrive as
 * BigInt, become numbers where they fit one; the others stay BigInt, for validation to refuse.
 */
export async function* readParquet(file: string): AsyncGenerator<RawRow> {
  const buffer = await asyncBufferFromFile(file);
  const metadata = await explained(file, () => parquetMetadataAsync(buffer));
  let rowStart = 0;
  for (const group of groupSizes(metadata)) {
    const range = { rowStart, rowEnd: rowStart + group };
    const rows = await explained(file, () =>
      parquetReadObjects({ file: buffer, metadata, compressors, parsers: PARSERS, ...range }),
    );
    for (const [offset, row] of rows.entries()) {
      yield { file, at: `row ${rowStart + offset}`, value: withNumbers(row) };
    }
    rowStart += group;
  }
}

/** Bytes that are not UTF-8 stay bytes, for validation to refuse with their row and column. */
function textOrBytes(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  try {
    return decodeUtf8(bytes);
  } catch {
    return bytes;
  }
}

function groupSizes(metadata: FileMetaData): number[] {
  return metadata.row_groups.map((group) => Number(group.num_rows));
}

function withNumbers(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toNumber(value)]));
}

function toNumber(value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

async function explained<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DataError(`${file}: not readable as parquet (${reason}).`, {
      nextStep: "Copy or download the file again, or write it anew with a common writer.",
      facts: { file },
      cause: error,
    });
  }
}
