import { readFileSync } from "node:fs";
import type { PresentationInput } from "../../orchestrator/prompts/presentations.ts";
import type { Question } from "../../orchestrator/questions/schema.ts";
import { loadTokenizer } from "../../orchestrator/tokenizer/load.ts";
import { fixture, TINY } from "../tokenizer/fixtures.ts";

export function caseQuestion(name: string): Question {
  return JSON.parse(readFileSync(fixture(`cases/${name}/question.json`), "utf8"));
}

export const REASON =
  "The log of the stopped run names the row, and a smaller batch would only move the stop.";

const tokenizer = await loadTokenizer(TINY);

/** Roomy limits and the usual words, but for what a test changes. */
export function presentationInput(changes: Partial<PresentationInput> = {}): PresentationInput {
  return {
    question: caseQuestion("12-special-token-text"),
    reason: REASON,
    prefixColumn: "prefix_text",
    teacherTemplate: "worked-reply",
    reasoning: "brief",
    tokenizer,
    limits: { studentTokens: 50_000, teacherTokens: 50_000 },
    templateArgs: {},
    ...changes,
  };
}
