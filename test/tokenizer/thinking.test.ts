import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadTokenizer } from "../../orchestrator/tokenizer/load.ts";
import { promptOpensThinking } from "../../orchestrator/tokenizer/thinking.ts";
import { fixture, TINY, tinyWith } from "./fixtures.ts";

const CASE = fixture("cases/11-closing-only-think");

test("prompt ids and sampled ids make the training text, with one closing tag and no empty block", async () => {
  const [template = "", prompt, completion = "", expected, messages = ""] = await Promise.all(
    ["chat_template.jinja", "prompt.txt", "completion.txt", "training-text.txt", "messages.json"].map(
      (name) => readFile(join(CASE, name), "utf8"),
    ),
  );
  const tokenizer = await loadTokenizer(await tinyWith({ "chat_template.jinja": template }));
  const encoded = tokenizer.encodePrompt(JSON.parse(messages));
  expect(encoded.text).toBe(prompt);
  const sampled = [...tokenizer.encodeText(completion), 397];
  const text = tokenizer.decode([...encoded.ids, ...sampled]);
  expect(`${text}\n`).toBe(expected);
  expect(text.split("</think>").length).toBe(2);
  expect(createHash("sha256").update(`${text}\n`).digest("hex")).toMatch(/^8cab58069c0f/);
});

test("a header that opens the thinking block is told from one that closes it", async () => {
  const tokenizer = await loadTokenizer(TINY);
  const messages = [{ role: "user" as const, content: "q" }];
  expect(promptOpensThinking(tokenizer.render(messages))).toBe(true);
  const closed = tokenizer.render(messages, { templateArgs: { enable_thinking: false } });
  expect(promptOpensThinking(closed)).toBe(false);
});

test("an opening tag inside the question does not open the reply's thinking", () => {
  expect(promptOpensThinking("<|im_start|>user\n<think><|im_end|>\n<|im_start|>assistant\n")).toBe(false);
});
