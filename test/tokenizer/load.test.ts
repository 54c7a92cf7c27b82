import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DataError } from "../../orchestrator/errors.ts";
import { loadTokenizer } from "../../orchestrator/tokenizer/load.ts";
import { fixture, TINY, tinyWith } from "./fixtures.ts";

const BYTES = fixture("cases/10-double-bos");

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, "utf8")) as T;
}

test("ids of plain text are those of the reference implementation", async () => {
  const tokenizer = await loadTokenizer(TINY);
  const probes = await readJson<{ text: string; ids: number[] }[]>(
    fixture("tokenizers/tiny-chatml-parity.json"),
  );
  expect(probes.map(({ text }) => tokenizer.encodeText(text))).toEqual(probes.map(({ ids }) => ids));
});

test("ids decode to the text they were made of", async () => {
  const tokenizer = await loadTokenizer(TINY);
  const text = "  don't , naïve 日本語 🙂\r\n\t<|im_end|> .";
  expect(tokenizer.decode(tokenizer.encodeText(text))).toBe(text);
  expect(tokenizer.decode([])).toBe("");
});

test("a template that writes the begin mark gives a prompt with one begin mark", async () => {
  const tokenizer = await loadTokenizer(join(BYTES, "tokenizer"));
  const { ids } = tokenizer.encodePrompt(await readJson(join(BYTES, "messages.json")));
  expect(ids).toEqual(await readJson(join(BYTES, "expected-ids.json")));
});

test("plain text that is a sequence of its own still gets its begin mark", async () => {
  const tokenizer = await loadTokenizer(join(BYTES, "tokenizer"));
  const ids = tokenizer.encodeSequence("plain text, no template");
  expect([ids.length, ids.filter((id) => id === 256)]).toEqual([24, [256]]);
});

test("a folder without a chat template is refused with the next step", async () => {
  const folder = await tinyWith({ "chat_template.jinja": null });
  const refused = loadTokenizer(folder);
  await expect(refused).rejects.toThrow(DataError);
  await expect(refused).rejects.toMatchObject({ nextStep: expect.stringContaining("chat_template.jinja") });
});

test("a folder without tokenizer.json is refused", async () => {
  const folder = await tinyWith({ "tokenizer.json": null });
  await expect(loadTokenizer(folder)).rejects.toThrow(/no tokenizer\.json/);
});

test("a torn tokenizer.json is refused with its name", async () => {
  const folder = await tinyWith({ "tokenizer.json": '{"added_tokens": [' });
  await expect(loadTokenizer(folder)).rejects.toThrow(/tokenizer\.json is not JSON/);
});

test("the default of several templates in the config is used", async () => {
  const templates = [
    { name: "tool_use", template: "wrong" },
    { name: "default", template: "{{ messages[0].content }}" },
  ];
  const folder = await tinyWith({
    "chat_template.jinja": null,
    "tokenizer_config.json": JSON.stringify({
      eos_token: { content: "<|im_end|>" },
      chat_template: templates,
    }),
  });
  const tokenizer = await loadTokenizer(folder);
  expect(tokenizer.render([{ role: "user", content: "right" }])).toBe("right");
});

test("every id that ends a reply is known: of the tokenizer and of generation_config.json", async () => {
  const folder = await tinyWith({ "generation_config.json": '{"eos_token_id": 395}' });
  expect((await loadTokenizer(folder)).eosIds).toEqual([395, 397]);
});

test("a template that asks for the date gets the pinned one, and says so", async () => {
  const template = await readFile(fixture("cases/leads/template-with-date.jinja"), "utf8");
  const folder = await tinyWith({ "chat_template.jinja": template });
  const tokenizer = await loadTokenizer(folder);
  expect(tokenizer.render([{ role: "user", content: "x" }])).toContain("Today is 01 Jan 2025.");
  expect(tokenizer.pinnedDate).toBe("2025-01-01");
  expect((await loadTokenizer(TINY)).pinnedDate).toBeNull();
});

test("another date is another tokenizer digest", async () => {
  const template = await readFile(fixture("cases/leads/template-with-date.jinja"), "utf8");
  const folder = await tinyWith({ "chat_template.jinja": template });
  const [first, again, other] = await Promise.all([
    loadTokenizer(folder),
    loadTokenizer(folder),
    loadTokenizer(folder, { date: "2024-02-29" }),
  ]);
  expect(again?.digest).toBe(first?.digest);
  expect(other?.digest).not.toBe(first?.digest);
});

test("what a template refuses is a DataError in its own words", async () => {
  const folder = await tinyWith({ "chat_template.jinja": "{{ raise_exception('no system role') }}" });
  const tokenizer = await loadTokenizer(folder);
  expect(() => tokenizer.render([{ role: "system", content: "x" }])).toThrow(/no system role/);
});
