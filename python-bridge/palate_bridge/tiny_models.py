"""Random-weight models of real architectures for smoke runs and tests: seconds to train, no download.

The Qwen3.5 form has three linear-attention layers to one of full attention, as the 27B model has. Vocabulary
and template come from assets/tiny-chatml.
"""

from __future__ import annotations

import shutil
from pathlib import Path

TOKENIZER = Path(__file__).parent / "assets" / "tiny-chatml"
VOCABULARY = 512
SEED = 20
LOG_DECAY = -6.0

ROPE = {"rope_type": "default", "rope_theta": 10000.0}


def save_tiny(kind: str, folder: Path) -> None:
    """Write weights (safetensors, fp32), config and tokenizer of `llama` or `qwen3_5` into a folder."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = BUILDERS[kind]()
    model.generation_config.eos_token_id = None
    model.save_pretrained(folder)
    for file in sorted(TOKENIZER.iterdir()):
        shutil.copyfile(file, folder / file.name)


def build_llama():  # noqa: ANN201 (importing the type would load torch at start-up)
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=4096,
            tie_word_embeddings=True,
            initializer_range=0.2,
            rope_parameters=ROPE,
            bos_token_id=None,
            eos_token_id=None,
        )
    )


def build_qwen3_5():  # noqa: ANN201
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    model = Qwen3_5ForCausalLM(
        Qwen3_5TextConfig(
            vocab_size=VOCABULARY,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=16,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
            linear_key_head_dim=16,
            linear_value_head_dim=16,
            max_position_embeddings=4096,
            tie_word_embeddings=False,
            initializer_range=0.2,
        )
    )
    remember(model)
    return model


def remember(model) -> None:  # noqa: ANN001
    """A random decay forgets within a few tokens; a demonstration would change nothing that follows."""
    for name, weight in model.named_parameters():
        if name.endswith("A_log"):
            weight.data.fill_(LOG_DECAY)


BUILDERS = {"llama": build_llama, "qwen3_5": build_qwen3_5}
