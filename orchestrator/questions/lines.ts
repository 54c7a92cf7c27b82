import { createReadStream, type ReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { DataError } from "../errors.ts";

/** A line without its end; `broken` says why it could not be decoded. */
export interface Line {
  /** From 1, blank lines counted. */
  readonly number: number;
  readonly text: string;
  readonly broken?: string;
}

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/**
 * Streams the lines of a UTF-8 file (gzip where its name ends in .gz), split on byte 0x0A alone: U+2028,
 * U+2029 and U+0085 are text inside a row (nodejs/node#22448). A byte-order mark at the start is dropped,
 * one anywhere else stays. DataError for a cut or damaged gzip file.
 */
export async function* readLines(file: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const bytes of splitLines(openBytes(file))) {
    number += 1;
    yield number === 1 ? firstLine(bytes, file) : decodeLine(bytes, number);
  }
}

async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...held, chunk.subarray(start, end)]);
      held = [];
      start = end + 1;
    }
    if (start < chunk.length) held.push(chunk.subarray(start));
  }
  if (held.length > 0) yield Buffer.concat(held);
}

function firstLine(bytes: Buffer, file: string): Line {
  if (UTF16_MARKS.some((mark) => bytes.subarray(0, 2).equals(mark))) {
    throw new DataError(`${file} line 1: the file is UTF-16.`, {
      nextStep: "Save it as UTF-8.",
      facts: { file, row: "line 1" },
    });
  }
  const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return decodeLine(marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes, 1);
}

function decodeLine(bytes: Buffer, number: number): Line {
  try {
    return { number, text: decodeUtf8(bytes) };
  } catch {
    return { number, text: "", broken: "is not UTF-8" };
  }
}

/** Bytes as text, to the byte: throws on what is not UTF-8, and keeps a leading U+FEFF. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

function openBytes(file: string): AsyncIterable<Buffer> {
  const source = createReadStream(file);
  return file.endsWith(".gz") ? inflate(source, file) : source;
}

/** All members of a gzip file; zlib alone stops in silence at bytes that begin no member. */
async function* inflate(source: ReadStream, file: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // A failure of the source destroys gunzip with the same error, so the loop below reports it.
  const piped = pipeline(source, gunzip).catch(() => undefined);
  try {
    yield* gunzip;
  } catch (error) {
    throw gzipError(error, file);
  }
  await piped;
  if (gunzip.bytesWritten < source.bytesRead) {
    throw new DataError(`${file}: ${source.bytesRead - gunzip.bytesWritten} bytes after the gzip data.`, {
      nextStep: "Make the file again; rows may be missing from it.",
      facts: { file },
    });
  }
}

function gzipError(error: unknown, file: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "Z_BUF_ERROR" && code !== "Z_DATA_ERROR") return error;
  const fault = code === "Z_BUF_ERROR" ? "the gzip data is cut: it ends early" : "the gzip data is damaged";
  return new DataError(`${file}: ${fault}.`, {
    nextStep: "Copy or download the file again.",
    facts: { file },
    cause: error,
  });
}
