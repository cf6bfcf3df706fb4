# SPDX-License-Identifier: MIT
"""The networks of bench/train_nets.h as a user of PyTorch's modules writes them: what compare_torch.py times, and what
a test compares with ours, weight by weight.

`ordered` of a module says in which order halfulp numbers the parameters of its parts, where that is not their order
in the module."""
import torch
from torch import nn


def attend(q, k, v, heads, hidden=None):
    """Attention of `heads` heads; hidden: scores that do not count."""
    batch, steps, width = q.shape
    q, k, v = (t.view(batch, t.shape[1], heads, -1).transpose(1, 2) for t in (q, k, v))
    scores = q @ k.transpose(-1, -2) * (width // heads) ** -0.5
    if hidden is not None:
        scores = scores.masked_fill(hidden, float("-inf"))
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, steps, width)


def later(steps):
    """What a causal step does not see."""
    return torch.ones(steps, steps).triu(1).bool()


class Tokens(nn.Module):
    """Embeddings and trained positions."""

    def __init__(self, tokens, width, steps):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.position = nn.Parameter(torch.zeros(steps, width))

    def forward(self, x):
        return self.embedding(x) + self.position

    def ordered(self):
        return [self.embedding, self.position]


def wide_of(width, hidden, activation=nn.ReLU):
    return nn.Sequential(nn.Linear(width, hidden), activation(), nn.Linear(hidden, width))


class Block(nn.Module):
    """A block with its norms before its parts; with `across` it attends to a memory, too."""

    def __init__(self, width, heads, hidden, across=False):
        super().__init__()
        self.heads = heads
        self.norm = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if across else 2))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        if across:
            self.q = nn.Linear(width, width, bias=False)
            self.kv = nn.Linear(width, 2 * width, bias=False)
            self.mix = nn.Linear(width, width, bias=False)
        self.wide = wide_of(width, hidden)

    def forward(self, h, hidden, memory=None, padding=None):
        h = h + self.out(attend(*self.qkv(self.norm[0](h)).chunk(3, dim=-1), self.heads, hidden))
        if memory is not None:
            q = self.q(self.norm[1](h))
            h = h + self.mix(attend(q, *self.kv(memory).chunk(2, dim=-1), self.heads, padding))
        return h + self.wide(self.norm[-1](h))

    def ordered(self):
        across = [self.norm[1], self.q, self.kv, self.mix] if len(self.norm) == 3 else []
        return [self.norm[0], self.qkv, self.out, *across, self.norm[-1], self.wide]


class Transformer(nn.Module):
    """A causal language model."""

    def __init__(self, tokens, width, heads, hidden, steps, layers):
        super().__init__()
        self.tokens = Tokens(tokens, width, steps)
        self.blocks = nn.ModuleList(Block(width, heads, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.logits = nn.Linear(width, tokens)
        self.register_buffer("hidden", later(steps))

    def forward(self, x):
        h = self.tokens(x)
        for block in self.blocks:
            h = block(h, self.hidden)
        return self.logits(self.norm(h)).flatten(0, 1)

    def ordered(self):
        return [self.tokens, *self.blocks, self.norm, self.logits]


class Translation(nn.Module):
    """An encoder and a decoder; what lies behind the lengths of the source is padding."""

    def __init__(self, tokens, width, heads, hidden, steps, layers):
        super().__init__()
        self.source, self.target = (Tokens(tokens, width, steps) for _ in range(2))
        self.encoder = nn.ModuleList(Block(width, heads, hidden) for _ in range(layers))
        self.memory = nn.LayerNorm(width)
        self.decoder = nn.ModuleList(Block(width, heads, hidden, across=True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.logits = nn.Linear(width, tokens)
        self.register_buffer("hidden", later(steps))
        self.register_buffer("steps", torch.arange(steps))

    def forward(self, source, lengths, target):
        padding = (self.steps >= lengths)[:, None, None, :]
        memory = self.source(source)
        for block in self.encoder:
            memory = block(memory, padding)
        memory, h = self.memory(memory), self.target(target)
        for block in self.decoder:
            h = block(h, self.hidden, memory, padding)
        return self.logits(self.norm(h)).flatten(0, 1)

    def ordered(self):
        return [self.source, *self.encoder, self.memory, self.target, *self.decoder, self.norm, self.logits]


class MaskedBlock(nn.Module):
    """A block of BERT, with its norms behind its parts."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.wide = wide_of(width, hidden, nn.GELU)

    def forward(self, h):
        h = self.norm[0](h + self.out(attend(*self.qkv(h).chunk(3, dim=-1), self.heads)))
        return self.norm[1](h + self.wide(h))

    def ordered(self):
        return [self.qkv, self.out, self.norm[0], self.wide, self.norm[1]]


class Masked(nn.Module):
    """BERT's masked language model; one token more than there are words is the mask."""

    def __init__(self, tokens, width, heads, hidden, steps, layers):
        super().__init__()
        self.tokens = Tokens(tokens + 1, width, steps)
        self.first = nn.LayerNorm(width)
        self.blocks = nn.Sequential(*(MaskedBlock(width, heads, hidden) for _ in range(layers)))
        self.head = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.logits = nn.Linear(width, tokens)

    def forward(self, x):
        return self.logits(self.head(self.blocks(self.first(self.tokens(x))))).flatten(0, 1)

    def ordered(self):
        return [self.tokens, self.first, *self.blocks, self.head, self.logits]


def layers_of(sizes):
    """Linear layers, a ReLU behind each."""
    return nn.Sequential(*(part for pair in zip(sizes, sizes[1:]) for part in (nn.Linear(*pair), nn.ReLU())))


class Clicks(nn.Module):
    """DLRM, whose categories have one table."""

    def __init__(self, dense=13, categories=26, rows=26000, units=16, bottom=(512, 256, 64), top=(512, 256)):
        super().__init__()
        self.bottom = layers_of((dense, *bottom, units))
        self.embedding = nn.Embedding(rows, units)
        side = categories + 1
        self.top = layers_of((units + side * (side - 1) // 2, *top))
        self.answer = nn.Linear(top[-1], 2)
        self.register_buffer("pairs", torch.tril_indices(side, side, -1))

    def forward(self, dense, categories):
        x = self.bottom(dense)
        rows = torch.cat([x[:, None], self.embedding(categories)], 1)
        products = (rows @ rows.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return self.answer(self.top(torch.cat([x, products], 1)))

    def ordered(self):
        return [self.bottom, self.embedding, self.top, self.answer]


class Words(nn.Module):
    """A language model of two layers of LSTM cells."""

    def __init__(self, tokens=10000, units=650):
        super().__init__()
        self.embedding = nn.Embedding(tokens, units)
        self.cells = nn.LSTM(units, units, 2, batch_first=True)
        self.logits = nn.Linear(units, tokens)

    def forward(self, x):
        return self.logits(self.cells(self.embedding(x))[0]).flatten(0, 1)


class Rows(nn.Module):
    """A GRU over the rows of a digit; its last state decides."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(8, 32, batch_first=True)
        self.logits = nn.Linear(32, 10)

    def forward(self, x):
        return self.logits(self.gru(x)[1][0])


def perceptron(inputs, units):
    return nn.Sequential(nn.Linear(inputs, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU(), nn.Linear(units, 10))


def images():
    layers, channels = [], 1
    for outputs in (8, 16, 16):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
        channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def layer(inputs, outputs, kernel, stride=1, groups=1):
    """A convolution and its batch norm."""
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]


class Residual(nn.Module):
    """ResNet-20's block; its shortcut has every second pixel and channels of zeros."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.zeros, self.stride = outputs - inputs, stride
        self.way = nn.Sequential(*layer(inputs, outputs, 3, stride), nn.ReLU(), *layer(outputs, outputs, 3))

    def forward(self, x):
        short = nn.functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.zeros))
        return torch.relu(self.way(x) + short)


def resnet20():
    layers, channels = [*layer(3, 16, 3), nn.ReLU()], 16
    for stage in range(3):
        for block in range(3):
            outputs = 16 << stage
            layers.append(Residual(channels, outputs, 2 if stage and not block else 1))
            channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Fire(nn.Module):
    """SqueezeNet's module."""

    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Sequential(*layer(inputs, squeeze, 1), nn.ReLU())
        self.pixels = nn.Sequential(*layer(squeeze, expand, 1), nn.ReLU())
        self.windows = nn.Sequential(*layer(squeeze, expand, 3), nn.ReLU())

    def forward(self, x):
        x = self.squeeze(x)
        return torch.cat([self.pixels(x), self.windows(x)], 1)


def squeezenet():
    layers, channels = [*layer(3, 96, 3), nn.ReLU(), nn.MaxPool2d(2)], 96
    for squeeze, expand, pool in ((16, 64, 0), (16, 64, 0), (32, 128, 1), (32, 128, 0),
                                  (48, 192, 0), (48, 192, 0), (64, 256, 1), (64, 256, 0)):
        layers += [Fire(channels, squeeze, expand)] + [nn.MaxPool2d(2)] * pool
        channels = 2 * expand
    return nn.Sequential(*layers, nn.Conv2d(channels, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())


class Inverted(nn.Module):
    """MobileNet v2's block."""

    def __init__(self, inputs, expand, outputs, stride):
        super().__init__()
        wide = expand * inputs
        layers = [*layer(inputs, wide, 1), nn.ReLU6()] if expand > 1 else []
        self.way = nn.Sequential(*layers, *layer(wide, wide, 3, stride, wide), nn.ReLU6(), *layer(wide, outputs, 1))
        self.short = stride == 1 and inputs == outputs

    def forward(self, x):
        return self.way(x) + x if self.short else self.way(x)


def mobilenet2():
    layers, channels = [*layer(3, 32, 3), nn.ReLU6()], 32
    for expand, outputs, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                            (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            layers.append(Inverted(channels, expand, outputs, 1 if block else stride))
            channels = outputs
    layers += [*layer(channels, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 10)]
    return nn.Sequential(*layers)


class Input:
    """Numbers of a sample: normal ones, or (tokens) whole ones from `first` on, so many different ones."""

    def __init__(self, *shape, tokens=0, first=0):
        self.shape, self.tokens, self.first = shape, tokens, first

    def batch(self, samples, made):
        """A batch of noise."""
        shape = (samples, *self.shape)
        if self.tokens:
            return torch.randint(self.first, self.first + self.tokens, shape, generator=made)
        return torch.randn(shape, generator=made)


class Network:
    """make: the module; labels: rows with an answer a sample; every: only each so many-th of them has a label;
    model, sizes: the same network as halfulp.train.Net builds it."""

    def __init__(self, make, batch, inputs, labels, classes, model, adam=False, every=1, **sizes):
        self.make, self.samples, self.inputs, self.labels, self.classes = make, batch, inputs, labels, classes
        self.adam, self.every, self.model, self.sizes = adam, every, model, sizes

    def batch(self, samples=None, seed=1):
        """Inputs and labels; a row without a label gets -100, which nn.CrossEntropyLoss ignores."""
        made, samples = torch.Generator().manual_seed(seed), samples or self.samples
        x = [part.batch(samples, made) for part in self.inputs]
        y = torch.randint(0, self.classes, (samples * self.labels,), generator=made)
        y[torch.arange(len(y)) % self.every != 0] = -100
        return x, y


def image(make, batch, model, side=32, channels=3):
    return Network(make, batch, [Input(channels, side, side)], 1, 10, model, height=side, width=side, channels=channels,
                   outputs=10)


def words(make, batch, steps, tokens, model, **more):
    return Network(make, batch, [Input(steps, tokens=tokens)], steps, tokens, model, steps=steps, vocabulary=tokens,
                   **more)


NETWORKS = {
    "digits": Network(lambda: perceptron(64, 64), 64, [Input(64)], 1, 10, "mlp(layers=2,units=64)", width=64,
                      outputs=10),
    "mlp": Network(lambda: perceptron(784, 512), 128, [Input(784)], 1, 10, "mlp(layers=2,units=512)", width=784,
                   outputs=10),
    "conv": image(images, 128, "conv(channels=8/16/16)", 16, 1),
    "transformer": words(lambda: Transformer(76, 32, 2, 128, 32, 1), 16, 32, 76,
                         "transformer(layers=1,units=32,heads=2,hidden=128)", adam=True),
    "gru": Network(Rows, 64, [Input(8, 8)], 1, 10, "gru(units=32)", height=8, width=8, outputs=10),
    "resnet20": image(resnet20, 128, "resnet20"),
    "squeezenet": image(squeezenet, 128, "squeezenet"),
    "mobilenet2": image(mobilenet2, 16, "mobilenet2"),
    "lstm650": words(Words, 20, 35, 10000, "lstm(layers=2,units=650)"),
    "transformer128": words(lambda: Transformer(8000, 128, 4, 512, 64, 2), 64, 64, 8000,
                            "transformer(layers=2,units=128,heads=4,hidden=512)", adam=True),
    "seq2seq": Network(lambda: Translation(8000, 128, 4, 512, 32, 2), 64,
                       [Input(32, tokens=8000), Input(1, tokens=32, first=1), Input(32, tokens=8000)], 32, 8000,
                       "seq2seq(layers=2,units=128,heads=4,hidden=512)", adam=True, steps=32, vocabulary=8000,
                       source_vocabulary=8000),
    "bert": words(lambda: Masked(8000, 128, 2, 512, 64, 2), 64, 64, 8000, "bert(layers=2,units=128,heads=2,hidden=512)",
                  adam=True, every=7),
    "dlrm": Network(Clicks, 128, [Input(13), Input(26, tokens=26000)], 1, 2,
                    "dlrm(units=16,bottom=512/256/64,top=512/256)", dense=13, categories=26, vocabulary=26000,
                    outputs=2),
}
