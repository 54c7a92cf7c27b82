import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fillTemplate } from "../../orchestrator/prompts/fill-template.ts";
import { fixture } from "../tokenizer/fixtures.ts";
import { caseQuestion } from "./questions.ts";

const CASE = "09-dollar-signs";

test("dollar signs in values reach the prompt to the byte", () => {
  const question = caseQuestion(CASE);
  const rendered = fillTemplate(readFileSync(fixture(`cases/${CASE}/template.txt`), "utf8"), {
    query: question.query,
    prefix: question.prefix_text,
    choice_a: question.choices[0],
    choice_b: question.choices[1],
  });
  expect(rendered).toBe(readFileSync(fixture(`cases/${CASE}/rendered.txt`), "utf8"));
  expect(createHash("sha256").update(rendered).digest("hex")).toBe(
    "ddb99a37f5035d7dd4c397ab55025f0318d687101812161c16a1b5ccc02338fb",
  );
});

test("a place inside a value is not filled", () => {
  expect(fillTemplate("{a}|{b}", { a: "{b}", b: "{a}" })).toBe("{b}|{a}");
});

test("a place without a value is an error, also one named like an object's own parts", () => {
  expect(() => fillTemplate("{constructor}", {})).toThrow(/\{constructor\}/);
});
