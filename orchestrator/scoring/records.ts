import { z } from "zod";
import { RunError } from "../errors.ts";
import { ORDERS } from "../questions/schema.ts";

const count = z.int().min(0);
const share = z.number().min(0).max(1);

/** One line of a records file: one sampled reply to one presentation. */
export const scoreRecordSchema = z
  .strictObject({
    question_id: z.string().min(1),
    order: z.enum(ORDERS),
    sample: count,
    /** `base`, `distilled`, `calibrated`, or the name of a checkpoint from elsewhere. */
    checkpoint: z.string().min(1),
    /** sha256 of the adapter's weights (not its path); null for the base model. */
    adapter_sha256: z.string().min(1).nullable(),
    text: z.string(),
    completion_ids: z.array(count),
    finish_reason: z.string().min(1),
    /** The reasoning cap was reached and the answer line was written by the runner. */
    forced_close: z.boolean(),
    /** First of the tokens written by the runner; they end before `choice_index`. */
    forced_start: count.nullable(),
    /** Position of the letter's token in `completion_ids`. */
    choice_index: count.nullable(),
    /** Probability of the two letters together at the choice position. */
    letter_mass: share.nullable(),
    /** Share of the supported letter in `letter_mass`. */
    letter_share: share.nullable(),
    /** The strict reading by the side that wrote the record; scores read `text` again. */
    letter: z.enum(["A", "B"]).nullable(),
    prompt_tokens: count,
    prompt_opens_thinking: z.boolean(),
  })
  .readonly();

export type ScoreRecord = z.infer<typeof scoreRecordSchema>;

export interface ParsedLines<T> {
  readonly records: readonly T[];
  /** Length of the part that ends in a line end; what follows is torn. */
  readonly goodBytes: number;
  readonly torn: boolean;
}

/** The layout of a line and what makes it the only one of its kind. */
export interface LineFormat<T> {
  readonly schema: z.ZodType<T>;
  readonly keyOf: (record: T) => readonly (string | number)[];
}

export const SCORE_LINE: LineFormat<ScoreRecord> = {
  schema: scoreRecordSchema,
  keyOf: (record) => [record.question_id, record.order, record.sample],
};

/** Records of a score stage; errors as `parseLines`. */
export function parseRecords(bytes: Uint8Array, file: string): ParsedLines<ScoreRecord> {
  return parseLines(bytes, file, SCORE_LINE);
}

/**
 * Reads an append-only JSONL file. Bytes behind the last line end are a write that was cut short: reported as
 * torn and never read, even if they happen to parse. Throws RunError naming file and line for a whole line
 * that is not valid UTF-8, JSON or of the layout, and for a key that comes twice.
 */
export function parseLines<T>(bytes: Uint8Array, file: string, format: LineFormat<T>): ParsedLines<T> {
  const goodBytes = bytes.lastIndexOf(LINE_FEED) + 1;
  const records: T[] = [];
  const lineOfKey = new Map<string, number>();
  for (let start = 0; start < goodBytes; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    const at = { file, line: records.length + 1 };
    const record = parseLine(bytes.subarray(start, end), at, format);
    refuseRepeat(JSON.stringify(format.keyOf(record)), lineOfKey, at);
    records.push(record);
    start = end + 1;
  }
  return { records, goodBytes, torn: goodBytes < bytes.length };
}

const LINE_FEED = 0x0a;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface Place {
  readonly file: string;
  readonly line: number;
}

function parseLine<T>(bytes: Uint8Array, at: Place, { schema }: LineFormat<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (cause) {
    throw badLine(at, cause instanceof Error ? cause.message : String(cause), cause);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw badLine(at, `${issue?.path.join(".") || "line"}: ${issue?.message}`, result.error);
}

function badLine({ file, line }: Place, why: string, cause: unknown): RunError {
  return new RunError(`${file}, line ${line} is not a record: ${why}.`, {
    nextStep:
      "Only a cut last line is repaired by itself; score this stage again, or remove the line by hand.",
    facts: { file, line },
    cause,
  });
}

function refuseRepeat(key: string, lineOfKey: Map<string, number>, { file, line }: Place): void {
  const first = lineOfKey.get(key);
  lineOfKey.set(key, line);
  if (first === undefined) return;
  throw new RunError(`${file}, line ${line} repeats the record ${key} of line ${first}.`, {
    nextStep: "Two writers shared this file; score this stage again.",
    facts: { file, line, first_line: first, key },
  });
}
