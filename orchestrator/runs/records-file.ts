import { type FileHandle, open } from "node:fs/promises";
import { RunError } from "../errors.ts";

/** What the parser of the records' layout says about the bytes of a file. */
interface Parsed<T> {
  readonly records: readonly T[];
  readonly goodBytes: number;
  readonly torn: boolean;
}

type Parse<T> = (bytes: Uint8Array, file: string) => Parsed<T>;

/** Records of a finished file. Throws RunError if it is missing or its tail is torn. */
export async function readRecordsFile<T>(path: string, parse: Parse<T>): Promise<readonly T[]> {
  const handle = await openExisting(path, "r");
  if (handle === null) throw missing(path);
  try {
    const parsed = parse(await handle.readFile(), path);
    if (parsed.torn) throw tornTail(path, parsed.goodBytes);
    return parsed.records;
  } finally {
    await handle.close();
  }
}

/**
 * Readies a file for more lines: cuts a torn tail off (in place, so the good bytes are never rewritten) and
 * returns the records that are whole. No file yet means no records. Throws RunError for a bad whole line, and
 * when the file grows meanwhile, since then another writer is alive.
 */
export async function repairRecordsFile<T>(
  path: string,
  parse: Parse<T>,
): Promise<{ records: readonly T[]; droppedBytes: number }> {
  const handle = await openExisting(path, "r+");
  if (handle === null) return { records: [], droppedBytes: 0 };
  try {
    const bytes = await handle.readFile();
    const { records, goodBytes, torn } = parse(bytes, path);
    if (torn) await cutTail(handle, path, { size: bytes.length, goodBytes });
    return { records, droppedBytes: bytes.length - goodBytes };
  } finally {
    await handle.close();
  }
}

async function openExisting(path: string, flags: "r" | "r+"): Promise<FileHandle | null> {
  try {
    return await open(path, flags);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw new RunError(`Cannot open ${path}: ${String(cause)}.`, { facts: { file: path }, cause });
  }
}

async function cutTail(
  handle: FileHandle,
  path: string,
  read: { size: number; goodBytes: number },
): Promise<void> {
  const { size } = await handle.stat();
  if (size !== read.size) {
    throw new RunError(`${path} changed from ${read.size} to ${size} bytes while it was being repaired.`, {
      nextStep: "Another process still writes to it; wait for it or stop it.",
      facts: { file: path },
    });
  }
  await handle.truncate(read.goodBytes);
  await handle.sync();
}

function missing(path: string): RunError {
  return new RunError(`No records at ${path}.`, {
    nextStep: "Run the score stage first.",
    facts: { file: path },
  });
}

function tornTail(path: string, goodBytes: number): RunError {
  return new RunError(`${path} ends in half a line after byte ${goodBytes}.`, {
    nextStep: "The score stage was stopped while writing; run it again, it goes on from there.",
    facts: { file: path, good_bytes: goodBytes },
  });
}
