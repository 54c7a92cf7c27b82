import type { z } from "zod";
import { DataError } from "../errors.ts";
import { type Fault, faultsError, type Report, shownValue } from "./faults.ts";
import type { RawRow } from "./raw-row.ts";
import { type Question, questionSchema } from "./schema.ts";

/** A row to validate, with what its release says of it. */
export interface ClaimedRow extends RawRow {
  readonly claim?: { readonly domain: string; readonly canary: string };
}

const LETTERS = ["A", "B"] as const;
const SURROGATE = /\p{Surrogate}/u;

/**
 * The one validation of questions, whatever they were read from. Order of the rows is kept.
 * DataError with the faults of all rows: schema, ids that repeat, answer against answer_index, cell against
 * method and domain, equal candidates, changing canary, text that is not well-formed Unicode.
 */
export async function validateRows(rows: AsyncIterable<ClaimedRow>, source: string): Promise<Question[]> {
  const questions: Question[] = [];
  const faults: Fault[] = [];
  const seen = new Map<string, string>();
  for await (const row of rows) {
    const report = reporter(row, faults);
    const question = parseRow(row, report);
    if (question === undefined) continue;
    checkQuestion(question, report);
    checkAgainstOthers(question, { row, seen, canary: row.claim?.canary ?? questions[0]?.canary }, report);
    questions.push(question);
  }
  if (faults.length > 0) throw faultsError(faults, "Correct these rows in the data, then read it again.");
  if (questions.length === 0) {
    throw new DataError(`${source}: holds no question.`, {
      nextStep: "Give data that has rows.",
      facts: { file: source },
    });
  }
  return questions;
}

function reporter(row: RawRow, faults: Fault[]): Report {
  const id = idOf(row.value);
  return (columns, message) => void faults.push({ file: row.file, at: row.at, id, columns, message });
}

function idOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  return typeof value.id === "string" ? value.id : undefined;
}

function parseRow(row: RawRow, report: Report): Question | undefined {
  if (row.broken !== undefined) {
    report([], row.broken);
    return undefined;
  }
  const torn = tornColumns(row.value);
  if (torn.length > 0) report(torn, "holds a lone surrogate (half a character)");
  const parsed = questionSchema.safeParse(row.value);
  for (const issue of parsed.error?.issues ?? []) reportIssue(issue, row.value, report);
  return parsed.data;
}

/** One zod issue in the words of the table: which column, and what stands there. */
export function reportIssue(issue: z.core.$ZodIssue, row: unknown, report: Report): void {
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) report([columnName([...issue.path, key])], "is not part of the format");
    return;
  }
  const value = issue.path.reduce<unknown>(step, row);
  const rule = issue.message.replace(/^Invalid (input|option): /, "");
  const columns = issue.path.length === 0 ? [] : [columnName(issue.path)];
  report(columns, value === undefined ? "is missing" : `${rule}, here ${shownValue(value)}`);
}

function tornColumns(row: unknown): string[] {
  if (typeof row !== "object" || row === null) return [];
  return Object.entries(row)
    .filter(([, value]) => [value].flat().some((part) => typeof part === "string" && SURROGATE.test(part)))
    .map(([column]) => column);
}

function step(value: unknown, key: PropertyKey): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}

function columnName(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : dotted(key, index))).join("");
}

function dotted(key: PropertyKey, index: number): string {
  return index === 0 ? String(key) : `.${String(key)}`;
}

function checkQuestion(question: Question, report: Report): void {
  const { answer, answer_index, cell, method, domain, choices } = question;
  if (LETTERS[answer_index] !== answer) {
    report(["answer_index"], `is ${answer_index}, but answer is ${answer}`);
  }
  if (cell !== `${method}_${domain}`) report(["cell"], `is ${shownValue(cell)}, not ${method}_${domain}`);
  if (choices[0] === choices[1]) report(["choices"], "both candidates are the same text");
}

interface Others {
  readonly row: ClaimedRow;
  /** Place of each id so far. */
  readonly seen: Map<string, string>;
  readonly canary: string | undefined;
}

function checkAgainstOthers(question: Question, { row, seen, canary }: Others, report: Report): void {
  const before = seen.get(question.id);
  if (before === undefined) seen.set(question.id, `${row.file} ${row.at}`);
  else report(["id"], `stands already in ${before}`);
  if (canary !== undefined && question.canary !== canary) {
    report(["canary"], `is ${shownValue(question.canary)}, in the rest of the set ${shownValue(canary)}`);
  }
  if (row.claim !== undefined && question.domain !== row.claim.domain) {
    report(["domain"], `is ${question.domain} in the file of ${row.claim.domain}`);
  }
}
