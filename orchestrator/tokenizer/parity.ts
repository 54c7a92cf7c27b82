import type { ChatTokenizer } from "./chat-tokenizer.ts";

/** A text and the ids that every implementation of this tokenizer must give for it, without special tokens. */
export interface ParityProbe {
  readonly text: string;
  readonly ids: readonly number[];
}

const TEXTS = [
  "ANSWER: A",
  "\n\nANSWER: B",
  "[3] $ pytest -x tests/   (exit=1)\n    E   AssertionError: 3 != 2\r\n\tretry",
  "I'm sure they'll say: naïve café, e\u0301, ½ ² ٣ 1234567890 3.14",
  "日本語のテキスト。한국어 🙂👩‍👩‍👧‍👦🏳️‍🌈",
  "  two  spaces\u00a0nbsp\u200bzw \n \n\n\n    deep",
  "x".repeat(64),
];

/** For the Python side to check against its own tokenizer before it trusts ids made here. */
export function parityProbes(tokenizer: Pick<ChatTokenizer, "encodeText">): ParityProbe[] {
  return TEXTS.map((text) => ({ text, ids: tokenizer.encodeText(text) }));
}
