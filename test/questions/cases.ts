import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { DataError } from "../../orchestrator/errors.ts";
import { readQuestions } from "../../orchestrator/questions/read.ts";
import type { Question, QuestionSet } from "../../orchestrator/questions/schema.ts";

/** A file of the cases taken from public bug reports. */
export function caseFile(path: string): string {
  return fileURLToPath(new URL(`../fixtures/cases/${path}`, import.meta.url));
}

/** A data file made for these tests, beside them. */
export function localFile(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** An empty folder that goes away with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "palate-questions-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export function read(source: string): Promise<QuestionSet> {
  return readQuestions(source, { cacheDir: join(tmpdir(), "palate-unused") });
}

/** The error of a read that must fail. */
export async function refusal(reading: Promise<unknown>): Promise<DataError> {
  try {
    await reading;
  } catch (error) {
    return error as DataError;
  }
  throw new Error("This was to be refused, and was read.");
}

export function question(changes: Readonly<Record<string, unknown>> = {}): Question {
  const row = {
    id: "q-01",
    domain: "engineering",
    method: "detour",
    cell: "detour_engineering",
    source: "swebench",
    task_id: "acme__widget-1",
    query: "What should the agent do next?",
    prefix_text: "[1] AGENT: I read the log first.",
    prefix_text_short: "[1] AGENT: I read the log first.",
    prefix_steps: 1,
    choices: ["Run it again.", "Look for the row."],
    answer: "B",
    answer_index: 1,
    canary: "CANARY-TEST-00000000",
  };
  // Broken rows are the point of some tests.
  return { ...row, ...changes } as Question;
}

export function jsonl(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
