"""Make test/fixtures/tokenizers/tiny-chatml: `python python-bridge/tests/make_tiny_tokenizer.py`.

A byte-level BPE of 400 ids with the parts of the Qwen3 family that matter to prompts: its word pattern, the
ChatML marks, <think> as a non-special added token, and a template whose header opens the thinking block. The
result depends on this file and the version of `tokenizers` only. Beside it, tiny-chatml-parity.json: texts
with the ids that this tokenizer gives for them as plain text, for every other implementation to agree with.
"""

import json
import random
from pathlib import Path

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    normalizers,
    pre_tokenizers,
    trainers,
)
from tokenizers.models import BPE

FOLDER = Path(__file__).parents[2] / "test/fixtures/tokenizers/tiny-chatml"
PARITY = FOLDER.parent / "tiny-chatml-parity.json"
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
THINKING = ["<think>", "</think>"]
SIZE = 400

WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'assistant' and '</think>' in message.content %}
{{- message.content.split('</think>')[-1].lstrip('\\n') }}
{%- else %}
{{- message.content }}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- else %}
{{- '<think>\\n' }}
{%- endif %}
{%- endif %}
"""

CORPUS = """\
Option A:
Read the log of the failing test before changing the code.

Option B:
Change the code and run the tests again.

ANSWER: A

ANSWER: B

Which of the two next steps is the better one? Think briefly, then end with one line: ANSWER: A or ANSWER: B
[1] AGENT: I read the file and the error. The test fails in the parser, so I look there first.
[2] $ pytest -x tests/test_parser.py   (exit=1)
    E   AssertionError: expected 3 rows, got 2
[3] EDIT: src/parser.py, tests/test_parser.py
The better option is the one that finds the cause: it reads what the program wrote, and then it acts.
The other option hides the error and the agent has to come back to it later.
Option A is better, as it reads the log first. Option B is better, as it runs the tests first.
"""

PARITY_TEXTS = [
    "",
    " ",
    "\n\n\n  \t x \n",
    "ANSWER: A",
    "so.\n\nANSWER: B",
    "I'm sure THEY'LL say it's naïve: café, e\u0301, ½ ² ٣ 1234567890 3.14",
    "a\r\nb\r\nc\u2028d\u00a0e\u200bf\ufeffg\x00\x1b[0m",
    "日本語のテキスト。한국어 🙂👩\u200d👩\u200d👧 🏳️\u200d🌈",
    "def f(x):\n    return x**2  # $$ $& $` $' {query}\n",
    "stop = '<|endoftext|>'; turn = \"<|im_end|>\" + '<|im_start|>assistant\\n'",
    "x" * 300,
]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    tokenizer = train()
    tokenizer.save(str(FOLDER / "tokenizer.json"))
    write_json("tokenizer_config.json", config())
    eos = [tokenizer.token_to_id("<|im_end|>"), tokenizer.token_to_id("<|endoftext|>")]
    write_json("generation_config.json", {"do_sample": True, "eos_token_id": eos, "temperature": 0.6})
    (FOLDER / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8", newline="\n")
    lines = ",\n".join(json.dumps(probe) for probe in parity(tokenizer))
    PARITY.write_text(f"[\n{lines}\n]\n", encoding="utf-8", newline="\n")


def train() -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE - len(SPECIALS) - len(THINKING),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([CORPUS], trainer)
    tokenizer.add_special_tokens([AddedToken(mark, normalized=False) for mark in SPECIALS])
    tokenizer.add_tokens([AddedToken(mark, normalized=False) for mark in THINKING])
    assert tokenizer.get_vocab_size() == SIZE
    return tokenizer


def config() -> dict[str, object]:
    return {
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "model_max_length": 4096,
        "pad_token": "<|endoftext|>",
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


def parity(tokenizer: Tokenizer) -> list[dict[str, object]]:
    tokenizer.encode_special_tokens = True
    texts = PARITY_TEXTS + [random_text(random.Random(seed)) for seed in range(30)]
    return [{"text": text, "ids": tokenizer.encode(text).ids} for text in texts]


def random_text(generator: random.Random) -> str:
    ranges = [(9, 14), (32, 127), (32, 127), (0xA0, 0x3000), (0x3000, 0xD800), (0xE000, 0x20000)]
    return "".join(chr(generator.randrange(*generator.choice(ranges))) for _ in range(40))


def write_json(name: str, value: object) -> None:
    (FOLDER / name).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
