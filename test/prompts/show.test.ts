import { expect, test } from "vitest";
import { buildPresentations, type Presentation } from "../../orchestrator/prompts/presentations.ts";
import { showPrompt } from "../../orchestrator/prompts/show.ts";
import { presentationInput } from "./questions.ts";

function published(changes: Parameters<typeof presentationInput>[0] = {}): Presentation {
  const [first] = buildPresentations(presentationInput(changes));
  if (first === undefined) throw new Error("no presentation");
  return first;
}

test("as text a prompt is shown to the byte, without marks", () => {
  const presentation = published();
  expect(showPrompt(presentation, { side: "teacher", form: "text" })).toBe(presentation.teacher.text);
});

test("on a terminal exactly the demonstration is highlighted", () => {
  const presentation = published();
  const shown = showPrompt(presentation, { side: "teacher", form: "terminal" });
  expect(shown.split("\u001b[7m")[1]?.split("\u001b[0m")[0]).toBe(presentation.demonstration_text);
  expect(showPrompt(presentation, { side: "student", form: "terminal" })).toBe(presentation.student.text);
});

test("escape sequences of a recorded run do not reach the terminal", () => {
  const question = { ...presentationInput().question, prefix_text: "[1] $ ls\n    \u001b]0;owned\u0007" };
  const shown = showPrompt(published({ question }), { side: "student", form: "terminal" });
  expect(shown).toContain("\u241b]0;owned\u2407");
  expect(shown).not.toContain("\u001b");
});

test("as JSON text, ids and spans stand side by side", () => {
  const presentation = published();
  const shown = JSON.parse(showPrompt(presentation, { side: "teacher", form: "json" }));
  expect(shown.ids).toEqual(presentation.teacher.ids);
  expect(shown.demonstration_spans).toEqual(presentation.demonstration_spans);
});
