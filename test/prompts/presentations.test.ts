import { expect, test } from "vitest";
import { DataError } from "../../orchestrator/errors.ts";
import { TEACHER_TEMPLATE_NAMES } from "../../orchestrator/prompts/index.ts";
import { buildPresentations, type Presentation } from "../../orchestrator/prompts/presentations.ts";
import { REASONING } from "../../orchestrator/prompts/question-view.ts";
import { loadTokenizer } from "../../orchestrator/tokenizer/load.ts";
import { tinyWith } from "../tokenizer/fixtures.ts";
import { caseQuestion, presentationInput, REASON } from "./questions.ts";

const FORMS = TEACHER_TEMPLATE_NAMES.flatMap((teacherTemplate) =>
  REASONING.map((reasoning) => ({ teacherTemplate, reasoning })),
);

function questionBlock(text: string): string {
  return text.slice(text.indexOf("Task:\n"), text.indexOf("\n\n", text.indexOf("Option B:\n")));
}

test.each(FORMS)("student and teacher share the question block and the last header: %o", (form) => {
  const presentations = buildPresentations(presentationInput(form));
  expect(presentations.map(({ order, supported }) => [order, supported])).toEqual([
    ["published", "B"],
    ["reversed", "A"],
  ]);
  for (const { student, teacher } of presentations) {
    expect(questionBlock(teacher.text)).toBe(questionBlock(student.text));
    expect(teacher.ids.slice(-9)).toEqual(student.ids.slice(-9));
  }
});

test.each(FORMS)("the spans point at the demonstration in the teacher's text: %o", (form) => {
  for (const { teacher, demonstration_spans, demonstration_text } of buildPresentations(
    presentationInput(form),
  )) {
    const shown = demonstration_spans.map(({ start, end }) => teacher.text.slice(start, end));
    expect(shown).toEqual([demonstration_text]);
  }
});

test.each(FORMS)(
  "dollar signs: query, prefix and both choices stand whole and once for the student: %o",
  (form) => {
    const question = caseQuestion("09-dollar-signs");
    for (const { student } of buildPresentations(presentationInput({ ...form, question }))) {
      for (const part of [question.query, question.prefix_text, ...question.choices]) {
        expect(student.text.split(part).length).toBe(2);
      }
    }
  },
);

test("the reversed order swaps the options and nothing else", () => {
  const [published, reversed] = buildPresentations(presentationInput());
  const [first, second] = presentationInput().question.choices;
  const swapped = published?.student.text
    .replace(`Option A:\n${first}`, () => `Option A:\n${second}`)
    .replace(`Option B:\n${second}`, () => `Option B:\n${first}`);
  expect(reversed?.student.text).toBe(swapped);
});

test("a direction note reads the same in both orders and holds no letter", () => {
  const shown = demonstrations("direction-note");
  expect(new Set(shown).size).toBe(1);
  expect(shown[0]).toContain(presentationInput().question.choices[1]);
  expect(shown[0]).not.toMatch(/\b[AB]\b/);
});

test.each(["worked-reply", "prior-turn"] as const)(
  "%s ends with the answer line of its order",
  (template) => {
    expect(demonstrations(template).map((text) => text.split("\n").at(-1))).toEqual([
      "ANSWER: B",
      "ANSWER: A",
    ]);
  },
);

test("the reason that the record gives reaches the teacher and never the student", () => {
  for (const { student, teacher } of buildPresentations(presentationInput())) {
    expect(teacher.text).toContain(REASON);
    expect(student.text).not.toContain(REASON);
  }
});

test("a reason that names an option by its letter is refused", () => {
  const reason = "Option A only moves the stop.";
  expect(() => buildPresentations(presentationInput({ reason }))).toThrow(DataError);
});

test("the short prefix is used where it is asked for", () => {
  const [published] = buildPresentations(presentationInput({ prefixColumn: "prefix_text_short" }));
  expect(published?.student.text).toContain(presentationInput().question.prefix_text_short);
  expect(published?.student.text).not.toContain("<|endofprompt|>");
});

test("template arguments reach the header of both sides and say whether thinking is open", () => {
  const open = buildPresentations(presentationInput());
  const closed = buildPresentations(presentationInput({ templateArgs: { enable_thinking: false } }));
  expect(open.map(({ opens_thinking }) => opens_thinking)).toEqual([true, true]);
  expect(closed.map(({ opens_thinking }) => opens_thinking)).toEqual([false, false]);
  expect(closed[0]?.teacher.text).toMatch(/<think>\n\n<\/think>\n\n$/);
});

test("a chat template that rewrites contents is refused", async () => {
  const template = "{% for m in messages %}{{ m.content | upper }}\n{% endfor %}";
  const tokenizer = await loadTokenizer(await tinyWith({ "chat_template.jinja": template }));
  expect(() => buildPresentations(presentationInput({ tokenizer }))).toThrow(/changes the system message/);
});

test("a chat template that gives the teacher another last header is refused", async () => {
  const template =
    "{% for m in messages %}{{ m.content }}\n{% endfor %}{{ 'again:' if messages | length > 2 else 'reply:' }}";
  const tokenizer = await loadTokenizer(await tinyWith({ "chat_template.jinja": template }));
  const input = presentationInput({ tokenizer, teacherTemplate: "prior-turn" });
  expect(() => buildPresentations(input)).toThrow(/differently/);
});

function demonstrations(teacherTemplate: (typeof TEACHER_TEMPLATE_NAMES)[number]): string[] {
  const presentations: Presentation[] = buildPresentations(presentationInput({ teacherTemplate }));
  return presentations.map(({ demonstration_text }) => demonstration_text);
}
