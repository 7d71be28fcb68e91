"""The networks of `mlsys bench train` and `generate` in PyTorch, eager: `pip install torch`, then `python pytorch.py [THREADS] [NAME...]`.

`python compare.py PROGRAM` runs it and mlsys in turn.
"""

import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

HEADS, KV_HEADS, VOCAB = 4, 2, 52


def turned(x, cosine, sine):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)


class Block(nn.Module):
    def __init__(self, width, ffn):
        super().__init__()
        linear = lambda inputs, outputs: nn.Linear(inputs, outputs, bias=False)
        self.head = width // HEADS
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(2))
        self.q, self.k, self.v = (linear(width, heads * self.head) for heads in (HEADS, KV_HEADS, KV_HEADS))
        self.output, self.down = linear(width, width), linear(ffn, width)
        self.gate, self.up = linear(width, ffn), linear(width, ffn)

    def forward(self, x, angles, cache=None):
        y = self.norms[0](x)
        q, k, v = (layer(y).unflatten(-1, (-1, self.head)).transpose(1, 2) for layer in (self.q, self.k, self.v))
        q, k = turned(q, *angles), turned(k, *angles)
        if cache is not None:
            k, v = cache[:] = [torch.cat([old, new], 2) for old, new in zip(cache, (k, v))] if cache else [k, v]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1, enable_gqa=True)
        x = x + self.output(y.transpose(1, 2).flatten(2))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, width, ffn, depth, time):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, width)
        self.blocks = nn.ModuleList(Block(width, ffn) for _ in range(depth))
        self.norm, self.head = nn.RMSNorm(width, eps=1e-5), nn.Linear(width, VOCAB, bias=False)
        head = width // HEADS
        angles = torch.arange(time)[:, None] / 10000 ** (torch.arange(0, head, 2) / head)
        self.angles = angles.cos(), angles.sin()

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.angles)
        return self.head(self.norm(x)).flatten(0, 1)


def mlp(*sizes):
    layers = [layer for pair in zip(sizes, sizes[1:]) for layer in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def cnn():
    convolutions = [nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU()]
    return nn.Sequential(nn.Unflatten(1, (1, 28, 28)), *convolutions, nn.Flatten(), nn.Linear(784, 10))


def measure(net, batch, steps):
    adam, times, processor = torch.optim.Adam(net.parameters(), lr=0.003), [], time.process_time()
    for _ in range(steps):
        start = time.perf_counter()
        inputs, labels = batch()
        adam.zero_grad()
        loss = F.cross_entropy(net(inputs), labels)
        loss.backward()
        adam.step()
        loss.item()
        times.append(1e3 * (time.perf_counter() - start))
    return "ms a step", times[steps // 5:], 1e3 * (time.process_time() - processor) / steps


def of_points():
    return points, digits[:128] % 2


def of_images():
    chosen = torch.randint(0, 2000, (64,))
    return images[chosen], digits[chosen]


def of_text(batch, time):
    tokens = lambda: torch.randint(0, VOCAB, (batch, time))
    return lambda: (tokens(), tokens().flatten())


@torch.inference_mode()
def generate(batch, prompt=16, generated=240, rounds=8):
    net, times, processors = Llama(64, 176, 2, prompt + generated), [], []
    for _ in range(rounds):
        tokens, caches, seen = torch.randint(0, VOCAB, (batch, prompt)), [[] for _ in net.blocks], 0
        for step in range(generated):
            if step == 1:
                processor = time.process_time()
            start = time.perf_counter()
            x, angles = net.embedding(tokens), [table[seen:seen + tokens.shape[1]] for table in net.angles]
            seen += tokens.shape[1]
            for block, cache in zip(net.blocks, caches):
                x = block(x, angles, cache)
            tokens = net.head(net.norm(x[:, -1:])).argmax(-1)
            tokens.tolist()
            times += [1e6 * (time.perf_counter() - start)] * (step > 0)
        processors.append(1e6 * (time.process_time() - processor) / (generated - 1))
    return "us a token", times, min(processors)


SIDES = {
    "spiral": lambda: measure(mlp(2, 32, 32, 2), of_points, 2000),
    "wide": lambda: measure(mlp(784, 512, 512, 10), of_images, 300),
    "cnn": lambda: measure(cnn(), of_images, 300),
    "llama": lambda: measure(Llama(64, 176, 2, 64), of_text(16, 64), 150),
    "llama-256": lambda: measure(Llama(256, 688, 4, 256), of_text(8, 256), 10),
    "generate-1": lambda: generate(1),
    "generate-8": lambda: generate(8),
}

torch.manual_seed(1)
torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else torch.get_num_threads())
points, images, digits = torch.rand(128, 2), torch.rand(2000, 784), torch.randint(0, 10, (2000,))
for name in sys.argv[2:] or SIDES:
    unit, times, processor = SIDES[name]()
    times.sort()
    print(f"{name}: {unit}, least {times[0]:.2f}, median {times[len(times) // 2]:.2f}, of processors {processor:.2f}")
