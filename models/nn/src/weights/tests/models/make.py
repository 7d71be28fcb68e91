"""Makes the small Llama folders next to it, with what other programs compute from them.

    python3 make.py        needs numpy and tokenizers

The forward pass is written from Llama's definition (Touvron et al. 2023) with the conventions of Hugging Face's
transformers, in numpy and in double precision, and knows nothing of mlsys. With torch and transformers installed the
scores are also compared with LlamaForCausalLM's.
"""

import json
import pathlib
import struct

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
TEXTS = ["the harbour and the harbour master", "It's 1234 o'clock, isn't it?  yes\n\n  no ",
         "na\u00efve caf\u00e9 \u4f60\u597d \U0001f600!", "WE'LL  go 3.14, 42\tand\r\nback", " x", ""]


def rounded(numbers, kind):
    """As 16-bit numbers, and their bytes."""
    numbers = numbers.astype(np.float32)
    if kind == "F16":
        half = numbers.astype(np.float16)
        return half.astype(np.float64), half.tobytes()
    if kind == "F32":
        return numbers.astype(np.float64), numbers.tobytes()
    bits = numbers.view(np.uint32)
    top = ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return (top.astype(np.uint32) << 16).view(np.float32).astype(np.float64), top.tobytes()


def weights(config, kind, seed):
    draw = np.random.default_rng(seed)
    h, f, v = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    head = config["head_dim"]
    q, k = config["num_attention_heads"] * head, config["num_key_value_heads"] * head
    shapes = {"model.embed_tokens.weight": [v, h], "model.norm.weight": [h]}
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        shapes |= {layer + "input_layernorm.weight": [h], layer + "post_attention_layernorm.weight": [h]}
        for name, shape in [("q", [q, h]), ("k", [k, h]), ("v", [k, h]), ("o", [h, q])]:
            shapes[f"{layer}self_attn.{name}_proj.weight"] = shape
        for name, shape in [("gate", [f, h]), ("up", [f, h]), ("down", [h, f])]:
            shapes[f"{layer}mlp.{name}_proj.weight"] = shape
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = [v, h]
    made = {}
    for name, shape in shapes.items():
        numbers = draw.normal(size=shape) * (0.3 if len(shape) == 2 else 0.2) + (1 if len(shape) == 1 else 0)
        made[name] = (*rounded(numbers, kind), shape)
    return made


def safetensors(path, tensors, kind):
    header, at, data = {"__metadata__": {"format": "pt"}}, 0, b""
    for name, (_, raw, shape) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(raw)]}
        at, data = at + len(raw), data + raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def scaled(scaling, speeds, config):
    """Radians a token of each pair, and the factor of cosines and sines."""
    if scaling is None:
        return speeds, 1
    slow = speeds / scaling["factor"]
    if scaling["rope_type"] == "linear":
        return slow, 1
    original, head = scaling["original_max_position_embeddings"], config["head_dim"]
    if scaling["rope_type"] == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        share = np.clip((original * speeds / (2 * np.pi) - low) / (high - low), 0, 1)
        return share * speeds + (1 - share) * slow, 1
    pair = lambda turns: head * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(config["rope_theta"]))
    start, end = max(np.floor(pair(32)), 0), min(np.ceil(pair(1)), head - 1)
    share = 1 - np.clip((np.arange(head // 2) - start) / (end - start), 0, 1)
    return share * speeds + (1 - share) * slow, 0.1 * np.log(scaling["factor"]) + 1


SCALED = [
    dict(rope_type="linear", factor=2.5),
    dict(rope_type="llama3", factor=8.0, low_freq_factor=0.5, high_freq_factor=2.0, original_max_position_embeddings=16),
    dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=512),
]


def scores(config, made, tokens):
    """The logits of every token, [time, vocab]."""
    w = {name: numbers for name, (numbers, _, _) in made.items()}
    heads, kv, head = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    norm = lambda x, name: x / np.sqrt((x * x).mean(-1, keepdims=True) + config["rms_norm_eps"]) * w[name]
    half = np.arange(0, head, 2) / head
    speeds, amplitude = scaled(config.get("rope_scaling"), 1 / config["rope_theta"] ** half, config)
    angles = np.outer(np.arange(len(tokens)), speeds)
    cos, sin = (np.concatenate([amplitude * f(angles)] * 2, -1) for f in (np.cos, np.sin))
    turned = lambda x: x * cos + np.concatenate([-x[..., head // 2:], x[..., :head // 2]], -1) * sin
    split = lambda x, n: x.reshape(len(tokens), n, head).transpose(1, 0, 2)
    x = w["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        of = lambda name: w[f"model.layers.{i}.{name}.weight"]
        n = norm(x, f"model.layers.{i}.input_layernorm.weight")
        q, k, v = (split(n @ of(f"self_attn.{s}_proj").T, c) for s, c in [("q", heads), ("k", kv), ("v", kv)])
        q, k = turned(q), np.repeat(turned(k), heads // kv, 0)
        s = q @ k.transpose(0, 2, 1) / np.sqrt(head)
        s = np.where(np.tril(np.ones(s.shape[1:])) > 0, s, -np.inf)
        s = np.exp(s - s.max(-1, keepdims=True))
        mixed = (s / s.sum(-1, keepdims=True)) @ np.repeat(v, heads // kv, 0)
        x = x + mixed.transpose(1, 0, 2).reshape(len(tokens), -1) @ of("self_attn.o_proj").T
        n = norm(x, f"model.layers.{i}.post_attention_layernorm.weight")
        gate = n @ of("mlp.gate_proj").T
        x = x + (gate / (1 + np.exp(-gate)) * (n @ of("mlp.up_proj").T)) @ of("mlp.down_proj").T
    head = "model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"
    return norm(x, "model.norm.weight") @ w[head].T


def tokenizer(pattern, vocab):
    made = Tokenizer(models.BPE(ignore_merges=pattern is not None))
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    before = pre_tokenizers.Split(Regex(pattern), "isolated") if pattern else pre_tokenizers.Digits(True)
    made.pre_tokenizer = pre_tokenizers.Sequence([before, pieces])
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocab, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  special_tokens=["<|begin|>"], show_progress=False)
    made.train_from_iterator(TEXTS * 3, trainer)
    if pattern:
        made.post_processor = processors.TemplateProcessing(
            single="<|begin|> $A", special_tokens=[("<|begin|>", made.token_to_id("<|begin|>"))])
    return made


def folder(name, config, kind, shards, pattern=..., seed=0):
    path = HERE / name
    path.mkdir(exist_ok=True)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu"} | config
    expected = {}
    if pattern is not ...:
        made = tokenizer(pattern, config["vocab_size"])
        config["vocab_size"] = made.get_vocab_size()
        made.save(str(path / "tokenizer.json"), pretty=False)
        expected["texts"] = [{"text": text, "tokens": made.encode(text).ids} for text in TEXTS]
    (path / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tensors = weights(config, kind, seed)
    if shards == 1:
        safetensors(path / "model.safetensors", tensors, kind)
    else:
        names, index = list(tensors), {}
        for i in range(shards):
            file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
            safetensors(path / file, {n: tensors[n] for n in names[i::shards]}, kind)
            index |= {n: file for n in names[i::shards]}
        (path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    tokens = [int(t) for t in np.random.default_rng(7).integers(config["vocab_size"], size=9)]
    logits = scores(config, tensors, tokens)
    expected |= {"tokens": tokens, "last": [float(f"{x:.7g}") for x in logits[-1]],
                 "sums": [float(f"{x:.7g}") for x in logits.sum(-1)]}
    if name == "grouped":
        expected["scaled"] = []
        for scaling in SCALED:
            last = scores(config | {"rope_scaling": scaling}, tensors, tokens)[-1]
            expected["scaled"].append({"rope_scaling": scaling, "last": [float(f"{x:.7g}") for x in last]})
    (path / "expected.json").write_text(json.dumps(expected) + "\n")
    try:
        import torch, transformers
    except ImportError:
        return print(name, "not compared with transformers, which is not there")
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    theirs = model(torch.tensor([tokens])).logits[0].detach().numpy()
    print(name, "differs from transformers by", np.abs(theirs - logits).max(), "of", np.abs(logits).max())
    for one in expected.get("scaled", []):
        model.config.rope_parameters = one["rope_scaling"] | {"rope_theta": config["rope_theta"]}
        model.model.rotary_emb = type(model.model.rotary_emb)(model.config)
        last = model(torch.tensor([tokens])).logits[0, -1].detach().numpy()
        print(one["rope_scaling"]["rope_type"], "differs by", np.abs(last - one["last"]).max())


folder("grouped", dict(vocab_size=37, hidden_size=24, intermediate_size=32, num_hidden_layers=2, num_attention_heads=6,
       num_key_value_heads=2, head_dim=8, max_position_embeddings=64, rms_norm_eps=1e-3, rope_theta=500000.0,
       tie_word_embeddings=False), "BF16", 2)
folder("tied", dict(vocab_size=300, hidden_size=8, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
       num_key_value_heads=1, head_dim=4, max_position_embeddings=256, rms_norm_eps=1e-6, rope_theta=100.0,
       tie_word_embeddings=True), "F16", 1, pattern=None, seed=1)
folder("template", dict(vocab_size=300, hidden_size=8, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
       num_key_value_heads=2, head_dim=4, max_position_embeddings=256, rms_norm_eps=1e-5, rope_theta=10000.0,
       tie_word_embeddings=False), "F32", 1, pattern=LLAMA3, seed=2)
