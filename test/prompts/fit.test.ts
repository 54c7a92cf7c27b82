import { expect, test } from "vitest";
import { DataError } from "../../orchestrator/errors.ts";
import { type Fitted, fitPrefix, fitQuestion, MARKER } from "../../orchestrator/prompts/fit.ts";
import { buildPresentations } from "../../orchestrator/prompts/presentations.ts";
import { caseQuestion, presentationInput } from "./questions.ts";

const QUESTION = caseQuestion("13-truncation-keeps-the-question");
const HEAD = QUESTION.prefix_text.split("\n").slice(0, 25).join("\n");
const { tokenizer } = presentationInput();

const count = (prefix: string) => tokenizer.count(prefix);

function cutTo(budget: number): Fitted {
  return fitPrefix({ questionId: QUESTION.id, prefix: QUESTION.prefix_text, budget, count });
}

/** The cut prefix with one more code point of the tail. */
function oneMore(prefix: string): string {
  const tail = prefix.slice(`${HEAD}\n${MARKER}\n`.length);
  const before = [...QUESTION.prefix_text.slice(0, QUESTION.prefix_text.length - tail.length)];
  return `${HEAD}\n${MARKER}\n${before.at(-1)}${tail}`;
}

test("at 41 neighbouring budgets the cut is well-formed, within budget, and the longest that fits", () => {
  for (let budget = 820; budget <= 860; budget += 1) {
    const { prefix, cut } = cutTo(budget);
    expect(cut).toBe(true);
    expect(prefix).not.toMatch(/\p{Surrogate}/u);
    expect(prefix.startsWith(`${HEAD}\n${MARKER}\n`)).toBe(true);
    expect(prefix.split(MARKER).length).toBe(2);
    expect(QUESTION.prefix_text.endsWith(prefix.slice(`${HEAD}\n${MARKER}\n`.length))).toBe(true);
    expect(count(prefix)).toBeLessThanOrEqual(budget);
    expect(count(oneMore(prefix))).toBeGreaterThan(budget);
  }
});

test("a prefix that fits exactly is not touched", () => {
  expect(cutTo(count(QUESTION.prefix_text))).toEqual({ prefix: QUESTION.prefix_text, cut: false });
});

test("one token less than the whole prefix needs is a cut", () => {
  expect(cutTo(count(QUESTION.prefix_text) - 1).cut).toBe(true);
});

test("a budget that the fixed parts overrun is refused, naming the question", () => {
  expect(() => cutTo(count(`${HEAD}\n${MARKER}\n`) - 1)).toThrow(DataError);
  expect(() => cutTo(10)).toThrow(/Question q-01/);
});

test("a long prefix of few lines has no tail to give and is refused", () => {
  const input = { questionId: "q-9", prefix: "word ".repeat(100), budget: 20, count };
  expect(() => fitPrefix(input)).toThrow(/Question q-9/);
});

test("a long prefix takes few counts, as each is a whole encoding", () => {
  let counts = 0;
  const counted = (prefix: string) => {
    counts += 1;
    return count(prefix);
  };
  const prefix = QUESTION.prefix_text.repeat(20);
  fitPrefix({ questionId: "q", prefix, budget: 5000, count: counted });
  expect(counts).toBeLessThan(22);
});

test("one cut serves prompts with different budgets, and the tightest decides", () => {
  const roomy = { name: "student", budget: 2000, count };
  const tight = { name: "teacher", budget: 1000, count: (prefix: string) => count(prefix) + 150 };
  const both = fitQuestion({ questionId: "q", prefix: QUESTION.prefix_text, prompts: [roomy, tight] });
  expect(both).toEqual(cutTo(850));
});

test("a count that is not monotone still ends within every budget", () => {
  const wavy = (prefix: string) => prefix.length + (prefix.length % 7) * 3;
  const other = (prefix: string) => prefix.length + (prefix.length % 5) * 4;
  const prompts = [wavy, other].map((counter, at) => ({ name: `${at}`, budget: 1500, count: counter }));
  const { prefix } = fitQuestion({ questionId: "q", prefix: QUESTION.prefix_text, prompts });
  expect(Math.max(wavy(prefix), other(prefix))).toBeLessThanOrEqual(1500);
});

test("a teacher prompt over its limit gives way in the prefix of both sides, never in question or demonstration", () => {
  const reason = "DEMONSTRATION-START the probe is broken DEMONSTRATION-END";
  const limits = { studentTokens: 5000, teacherTokens: 1400 };
  const presentations = buildPresentations(presentationInput({ question: QUESTION, reason, limits }));
  for (const { student, teacher, prefix_cut } of presentations) {
    expect(prefix_cut).toBe(true);
    expect(teacher.ids.length).toBeLessThanOrEqual(limits.teacherTokens);
    const from = student.text.indexOf(MARKER);
    const tail = student.text.slice(from, student.text.indexOf("Option A:"));
    for (const part of [QUESTION.query, ...QUESTION.choices, HEAD, tail]) {
      expect(student.text).toContain(part);
      expect(teacher.text).toContain(part);
    }
    expect(teacher.text).toContain(reason);
  }
});

test("choices are never cut: limits below the fixed parts are refused", () => {
  const limits = { studentTokens: 5000, teacherTokens: 300 };
  expect(() => buildPresentations(presentationInput({ question: QUESTION, limits }))).toThrow(
    /teacher prompt/,
  );
});
