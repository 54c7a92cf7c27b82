import { describe, expect, it } from "vitest";
import { readAnswer } from "../../orchestrator/scoring/answer.ts";
import { caseRows } from "./case-rows.ts";

interface AnswerRow {
  id: string;
  strict: string | null;
  tolerant: string | null;
}

interface ThinkingRow {
  id: string;
  answer: string | null;
  reason: string | null;
}

interface ReplyRow {
  id: string;
  text: string;
  finish_reason?: string;
  prompt_opens_thinking?: boolean;
}

function read(row: Omit<ReplyRow, "id">) {
  return readAnswer({
    text: row.text,
    finishReason: row.finish_reason ?? "stop",
    promptOpensThinking: row.prompt_opens_thinking ?? false,
  });
}

describe("answer lines", () => {
  const replies = new Map(caseRows<ReplyRow>("17-answer-lines/replies.jsonl").map((row) => [row.id, row]));

  it.each(caseRows<AnswerRow>("17-answer-lines/expected.jsonl"))(
    "$id is read as strict $strict, tolerant $tolerant",
    (row) => {
      const { letter, tolerant, reason } = read(replies.get(row.id) ?? { text: "row missing" });
      expect({ letter, tolerant }).toEqual({ letter: row.strict, tolerant: row.tolerant });
      expect(reason === null).toBe(row.strict !== null);
    },
  );

  it.each([
    ["ANSWER: B. Option A never ran the tests.", "it names the other letter too"],
    ["Answer: a better first step is to read the log", "a letter before a word may be an article"],
    ["ANSWER: B, a", "a lower-case letter behind a comma is a second answer"],
    ["ANSWER: Bé", "a letter outside ASCII makes it a word"],
  ])("finds no letter in %j even when tolerant, because %s", (text) => {
    expect(read({ text })).toMatchObject({ letter: null, tolerant: null });
  });

  it("reads a decorated bare letter only when tolerant", () => {
    expect(read({ text: "**b**" })).toMatchObject({ letter: null, tolerant: "B" });
  });

  it("does not take a letter on the last line of prose for a bare letter", () => {
    expect(read({ text: "I weighed both.\nB" })).toMatchObject({ letter: null, tolerant: null });
  });

  it("says that a reply without an answer was cut at the token limit", () => {
    expect(read({ text: "Both look", finish_reason: "length" }).reason).toBe("cut at the token limit");
  });
});

describe("thinking", () => {
  const replies = new Map(
    caseRows<ReplyRow>("18-thinking-not-closed/replies.jsonl").map((row) => [row.id, row]),
  );

  it.each(caseRows<ThinkingRow>("18-thinking-not-closed/expected.jsonl"))(
    "$id gives $answer ($reason)",
    (row) => {
      const { letter, reason } = read(replies.get(row.id) ?? { text: "row missing" });
      expect({ answer: letter, reason }).toEqual({ answer: row.answer, reason: row.reason });
    },
  );

  it("gives the tolerant reading no answer from open thinking either", () => {
    expect(read({ text: "<think>ANSWER: **A**", finish_reason: "length" }).tolerant).toBeNull();
  });
});
