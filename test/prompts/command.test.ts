import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import yargs from "yargs";
import { promptsCommand } from "../../orchestrator/commands/prompts.ts";
import { buildPresentations } from "../../orchestrator/prompts/presentations.ts";
import { presentationInput } from "./questions.ts";

const folder = await mkdtemp(join(tmpdir(), "palate prompts "));
const FILE = join(folder, "questions.jsonl");
const { question } = presentationInput();
await writeFile(FILE, `${JSON.stringify(question)}\n`);
const RECIPE = join(folder, "recipe.yaml");
const limits = "prompts: { student_tokens: 50000, teacher_tokens: 50000 }";
await writeFile(RECIPE, `model: { source: tiny:llama }\nquestions: { source: "${FILE}" }\n${limits}\n`);

async function show(...words: string[]): Promise<string> {
  const written: string[] = [];
  const stdout = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => written.push(String(text)) > 0);
  onTestFinished(() => void stdout.mockRestore());
  await yargs(["prompts", "show", ...words, "--recipe", RECIPE, "--checkpoints", folder])
    .command(promptsCommand)
    .fail(false)
    .parseAsync();
  return written.join("");
}

test("prompts show prints what the student gets, to the byte", async () => {
  const [published] = buildPresentations(presentationInput({ reason: undefined }));
  expect(await show(question.id)).toBe(published?.student.text);
});

test("prompts show prints the side, order and template that are asked for", async () => {
  const words = ["--side", "teacher", "--order", "reversed", "--template", "stated-answer", "--json"];
  const shown = JSON.parse(await show(question.id, ...words));
  expect(shown).toMatchObject({ side: "teacher", order: "reversed", supported: "A" });
  expect(shown.text).toContain("The right answer is A.");
});

test("prompts show --ids prints the ids that the model gets", async () => {
  const [published] = buildPresentations(presentationInput());
  const shown = await show(question.id, "--ids");
  expect(shown.trim().split(" ").map(Number)).toEqual(published?.student.ids);
});

test("prompts show says which question is missing", async () => {
  await expect(show("q-77")).rejects.toThrow('no question "q-77"');
});
