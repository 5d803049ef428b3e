"""A quantized checkpoint in one GGUF file, converted to a folder: weights in safetensors, configuration and tokenizer in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from gguf import GGUFReader, ReaderTensor  # noqa: TID253
from gguf.quants import dequantize  # noqa: TID253
from safetensors.torch import save_file  # noqa: TID253
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: TID253
from torch import Tensor  # noqa: TID253

from hushtable.errors import InputError

LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
CONTROL = 3
"""The type of tokens that are no text."""


def convert(path: Path, folder: Path) -> None:
    """Write a checkpoint of the Llama architecture with a byte-level tokenizer to a new folder; InputError for any other."""
    reader = GGUFReader(path)
    values = {name: field.contents() for name, field in reader.fields.items()}
    sort = (values.get("general.architecture"), values.get("tokenizer.ggml.model"), values.get("tokenizer.ggml.pre"))
    if sort != ("llama", "gpt2", "smollm"):
        raise InputError(f"{path.name} has an architecture or a tokenizer that is not known here", where="model")
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(_config(values), indent=2) + "\n", encoding="utf-8")
    _tokenizer(values).save(str(folder / "tokenizer.json"))
    save_file(_weights(reader.tensors, values), folder / "model.safetensors", metadata={"format": "pt"})


def _config(values: dict[str, Any]) -> dict[str, Any]:
    """As the file says it, in the words of the Llama configuration."""
    own = {name.removeprefix("llama."): value for name, value in values.items() if name.startswith("llama.")}
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "bos_token_id": values["tokenizer.ggml.bos_token_id"],
        "eos_token_id": values["tokenizer.ggml.eos_token_id"],
        "pad_token_id": values.get("tokenizer.ggml.padding_token_id", values["tokenizer.ggml.eos_token_id"]),
        "hidden_act": "silu",
        "hidden_size": own["embedding_length"],
        "intermediate_size": own["feed_forward_length"],
        "max_position_embeddings": own["context_length"],
        "num_attention_heads": own["attention.head_count"],
        "num_hidden_layers": own["block_count"],
        "num_key_value_heads": own["attention.head_count_kv"],
        "rms_norm_eps": own["attention.layer_norm_rms_epsilon"],
        "rope_parameters": {"rope_type": "default", "rope_theta": own["rope.freq_base"]},
        "tie_word_embeddings": True,
        "dtype": "bfloat16",
        "vocab_size": len(values["tokenizer.ggml.tokens"]),
    }


def _tokenizer(values: dict[str, Any]) -> Tokenizer:
    """Byte-level pairs, with every digit a token of its own."""
    tokens = values["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ", 1)) for merge in values["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=merges))
    bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), bytewise])
    tokenizer.decoder = decoders.ByteLevel()
    control = [token for token, sort in zip(tokens, values["tokenizer.ggml.token_type"], strict=True) if sort == CONTROL]
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in control])
    return tokenizer


def _weights(tensors: Iterable[ReaderTensor], values: dict[str, Any]) -> dict[str, Tensor]:
    heads = {"attn_q": values["llama.attention.head_count"], "attn_k": values["llama.attention.head_count_kv"]}
    weights = {}
    for tensor in tensors:
        array = dequantize(tensor.data, tensor.tensor_type).reshape(tuple(reversed(tensor.shape.tolist())))
        first, *rest = tensor.name.split(".")
        part = rest[1] if first == "blk" else first
        if part in heads:
            # The file interleaves the halves of each head, which rotary positions turn; the network keeps them apart.
            split = array.reshape(heads[part], array.shape[0] // heads[part] // 2, 2, array.shape[1])
            array = split.swapaxes(1, 2).reshape(array.shape)
        name = f"model.layers.{rest[0]}.{LAYER[part]}" if first == "blk" else OUTSIDE[part]
        weights[f"{name}.weight"] = torch.from_numpy(np.array(array)).to(torch.bfloat16)
    return weights
