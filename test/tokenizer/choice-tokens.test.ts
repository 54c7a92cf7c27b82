import { expect, test } from "vitest";
import { DataError } from "../../orchestrator/errors.ts";
import { choiceTokens } from "../../orchestrator/tokenizer/choice-tokens.ts";
import { loadTokenizer } from "../../orchestrator/tokenizer/load.ts";
import { parityProbes } from "../../orchestrator/tokenizer/parity.ts";
import { fixture, TINY } from "./fixtures.ts";

test("the two choices differ in the one token that follows the forced line", async () => {
  const tokenizer = await loadTokenizer(TINY);
  const { forcedIds, letterIds } = choiceTokens(tokenizer);
  expect(letterIds.A).not.toBe(letterIds.B);
  expect(tokenizer.encodeText("ANSWER: A")).toEqual([...forcedIds, letterIds.A]);
  expect(tokenizer.encodeText("thus.\n\nANSWER: B").slice(-1 - forcedIds.length)).toEqual([
    ...forcedIds,
    letterIds.B,
  ]);
});

test("a tokenizer that writes the letter as a token after a blank of its own is refused", async () => {
  const tokenizer = await loadTokenizer(fixture("cases/10-double-bos/tokenizer"));
  expect(() => choiceTokens(tokenizer)).toThrow(DataError);
});

test("parity probes carry the ids of this tokenizer", async () => {
  const tokenizer = await loadTokenizer(TINY);
  for (const { text, ids } of parityProbes(tokenizer))
    expect(tokenizer.decode(ids)).toBe(text.normalize("NFC"));
});
