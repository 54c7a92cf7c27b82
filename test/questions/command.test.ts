import { expect, onTestFinished, test, vi } from "vitest";
import yargs from "yargs";
import { questionsCommand } from "../../orchestrator/commands/questions.ts";
import { caseFile } from "./cases.ts";

async function palate(...words: string[]): Promise<string> {
  const written: string[] = [];
  const stdout = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => written.push(String(text)) > 0);
  onTestFinished(() => void stdout.mockRestore());
  await yargs(["questions", ...words])
    .command(questionsCommand)
    .fail(false)
    .parseAsync();
  return written.join("");
}

test("questions check prints the report as JSON and nothing else", async () => {
  const report = JSON.parse(await palate("check", caseFile("03-int64-and-big-ids/int64.parquet"), "--json"));
  expect(report).toMatchObject({ questions: 2, canary: "CANARY-TEST-00000000" });
});

test("questions check prints a table for people", async () => {
  expect(await palate("check", caseFile("leads/ids-like-numbers.jsonl"))).toContain("4 over 4 tasks");
});

test.each(["002e1234", "1e5", "0x10", "0047"])(
  "questions show finds the id %s as it is spelled",
  async (id) => {
    const file = caseFile("leads/ids-like-numbers.jsonl");
    expect(await palate("show", file, id)).toContain("Candidate B (supported)");
    expect(JSON.parse(await palate("show", file, id, "--json"))).toMatchObject({ id });
  },
);

test("questions show says which id is missing", async () => {
  await expect(palate("show", caseFile("leads/choice-none.jsonl"), "q-9")).rejects.toThrow(
    'no question "q-9"',
  );
});
