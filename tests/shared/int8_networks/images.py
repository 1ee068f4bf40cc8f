# SPDX-License-Identifier: Apache-2.0
"""Networks of images, and gates."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune

from int8_networks.base import Lambda, conv, network, plus, pooled


@network("images", (1, 3, 16, 16))
def resnet8() -> nn.Module:
    def block(i: int, o: int, s: int) -> nn.Module:
        body = nn.Sequential(conv(i, o, 3, s), conv(o, o, act=None))
        skip = conv(i, o, 1, s, act=None) if s > 1 else nn.Identity()
        return Lambda(lambda m, x: F.relu(m.body(x) + m.skip(x)), body=body, skip=skip)

    blocks = block(8, 8, 1), block(8, 16, 2), block(16, 32, 2)
    return nn.Sequential(conv(3, 8), *blocks, *pooled(10, 32))


@network("images", (1, 1, 20, 20))
def autoencoder() -> nn.Module:
    """Strided convolutions and back, with output_padding."""
    up = [nn.ConvTranspose2d(24, 16, 3, 2, 1, 1), nn.ConvTranspose2d(16, 1, 3, 2, 1, 1)]
    down = [nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 24, 3, 2, 1), nn.ReLU()]
    return nn.Sequential(*down, up[0], nn.ReLU(), up[1], nn.Sigmoid())


@network("grouped", (1, 2, 4, 32))
def deep_filter() -> nn.Module:
    """A mask of bands: grouped convolutions along frequency, and back."""

    def wide(i: int, o: int, s: int, g: int) -> list[nn.Module]:
        return [nn.Conv2d(i, o, (3, 3), (1, s), (1, 1), groups=g), nn.Conv2d(o, o, 1)]

    def up(i: int, o: int, act: nn.Module) -> nn.Module:
        more = {"padding": (0, 1), "output_padding": (0, 1), "groups": 4}
        turned = nn.ConvTranspose2d(i, i, (1, 3), (1, 2), **more)
        return nn.Sequential(turned, nn.Conv2d(i, o, 1), nn.BatchNorm2d(o), act)

    def forward(m: Any, x: Any) -> Any:
        a = m.a(x)
        b = m.b(a)
        c = m.c(b)
        return m.e(m.d(c + m.skip(b)) + a) * x[:, :1]

    def down(i: int, o: int, s: int, g: int) -> nn.Module:
        return nn.Sequential(*wide(i, o, s, g), nn.BatchNorm2d(o), nn.ReLU())

    return Lambda(
        forward,
        a=down(2, 16, 2, 2),
        b=down(16, 16, 2, 4),
        c=down(16, 16, 1, 4),
        skip=nn.Conv2d(16, 16, 1, groups=4),
        d=up(16, 16, nn.ReLU()),
        e=up(16, 1, nn.Sigmoid()),
    )


@network("images", (1, 3, 31, 31))
def squeezenet() -> nn.Module:
    def fire(i: int, s: int, o: int) -> nn.Module:
        def forward(m: Any, x: Any) -> Any:
            x = F.relu(m.s(x))
            return torch.cat([F.relu(m.a(x)), F.relu(m.b(x))], 1)

        a, b = nn.Conv2d(s, o, 1), nn.Conv2d(s, o, 3, padding=1)
        return Lambda(forward, s=nn.Conv2d(i, s, 1), a=a, b=b)

    def pool() -> nn.Module:
        return nn.MaxPool2d(3, 2, ceil_mode=True)

    body = (nn.Conv2d(3, 16, 3, 2), nn.ReLU(), pool(), fire(16, 8, 16), fire(32, 8, 16))
    tail = (pool(), fire(32, 12, 24), nn.Dropout(), nn.Conv2d(48, 10, 1), nn.ReLU())
    return nn.Sequential(*body, *tail, nn.AdaptiveAvgPool2d(1), nn.Flatten())


@network("tables", (1, 3, 16, 16))
def group_norm() -> nn.Module:
    def layer(i: int, o: int, s: int) -> list[nn.Module]:
        return [nn.Conv2d(i, o, 3, s, 1), nn.GroupNorm(4, o), nn.ReLU()]

    layers = [*layer(3, 16, 1), *layer(16, 16, 2), *layer(16, 32, 2)]
    return nn.Sequential(*layers, *pooled(10, 32))


@network("tables", (1, 3, 24, 24))
def face_prelu() -> nn.Module:
    """An embedding of a face: PReLU, a depthwise convolution instead of a pool."""

    def act(n: int) -> Callable[[], nn.Module]:
        return lambda: nn.PReLU(n)

    def block(n: int, inner: int) -> nn.Module:
        wide = conv(n, inner, 1, act=act(inner))
        deep = conv(inner, inner, 3, g=inner, act=act(inner))
        return plus(wide, deep, conv(inner, n, 1, act=None))

    last = nn.Sequential(nn.Conv2d(32, 32, 6, groups=32), nn.BatchNorm2d(32))
    first = conv(3, 16, 3, 2, act=act(16)), conv(16, 16, 3, 2, act=act(16))
    blocks = block(16, 32), block(16, 32), conv(16, 32, 1, act=nn.PReLU)
    return nn.Sequential(*first, *blocks, last, nn.Flatten(), nn.Linear(32, 16))


@network("tables", (1, 3, 32, 32))
def convnext() -> nn.Module:
    class ChannelNorm(nn.LayerNorm):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    def block(n: int) -> nn.Module:
        def forward(m: Any, x: Any) -> Any:
            y = m.norm(m.deep(x).permute(0, 2, 3, 1))
            y = m.scale * m.narrow(F.gelu(m.wide(y)))
            return x + y.permute(0, 3, 1, 2)

        return Lambda(
            forward,
            deep=nn.Conv2d(n, n, 7, padding=3, groups=n),
            norm=nn.LayerNorm(n),
            wide=nn.Linear(n, 4 * n),
            narrow=nn.Linear(4 * n, n),
            scale=nn.Parameter(torch.rand(n)),
        )

    stem, down = nn.Conv2d(3, 16, 4, 4), nn.Conv2d(16, 32, 2, 2)
    layers = stem, ChannelNorm(16), block(16), ChannelNorm(16), down, block(32)
    tail = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(32), nn.Linear(32, 10)
    return nn.Sequential(*layers, *tail)


@network("tables", (1, 3, 32, 32))
def yolo() -> nn.Module:
    """Boxes of two scales, LeakyReLU."""

    def leaky(i: int, o: int, k: int = 3, s: int = 1) -> nn.Module:
        return conv(i, o, k, s, act=lambda: nn.LeakyReLU(0.1))

    def boxes(x: Any) -> Any:
        x = x.view(-1, 3, 7, *x.shape[2:]).permute(0, 1, 3, 4, 2)
        return torch.cat([x[..., :2].sigmoid(), x[..., 2:4], x[..., 4:].sigmoid()], -1)

    def forward(m: Any, x: Any) -> Any:
        a = m.a(x)
        b = m.b(F.max_pool2d(a, 2))
        up = F.interpolate(m.up(b), scale_factor=2, mode="nearest")
        return boxes(m.large(b)), boxes(m.small(torch.cat([up, a], 1)))

    return Lambda(
        forward,
        a=nn.Sequential(leaky(3, 8, 3, 2), leaky(8, 16, 3, 2)),
        b=nn.Sequential(leaky(16, 32), leaky(32, 16, 1), leaky(16, 32)),
        up=leaky(32, 16, 1),
        large=nn.Conv2d(32, 21, 1),
        small=nn.Sequential(leaky(32, 16), nn.Conv2d(16, 21, 1)),
    )


def gate(n: int, act: type = nn.Sigmoid) -> nn.Module:
    """Squeeze and excite, as torchvision spells it."""
    layers = nn.Conv2d(n, n // 4, 1), nn.ReLU(), nn.Conv2d(n // 4, n, 1), act()
    body = nn.Sequential(nn.AdaptiveAvgPool2d(1), *layers)
    return Lambda(lambda m, x: m.body(x) * x, body=body)


def inverted(
    i: int, o: int, s: int, wide: int, k: int = 3, act: Any = nn.ReLU6, se: Any = None
) -> nn.Module:
    """Expansion, depthwise convolution, gate, projection."""
    body = conv(i, wide, 1, act=act), conv(wide, wide, k, s, wide, act=act)
    layers = (*body, *([se(wide)] if se else []), conv(wide, o, 1, act=None))
    return plus(*layers) if i == o and s == 1 else nn.Sequential(*layers)


@network("tables", (1, 3, 32, 32))
def efficientnet() -> nn.Module:
    act: Any = nn.SiLU
    blocks = [
        inverted(8, 16, 2, 32, act=act, se=gate),
        inverted(16, 16, 1, 48, 5, act=act, se=gate),
        inverted(16, 24, 2, 48, act=act, se=gate),
    ]
    return nn.Sequential(
        conv(3, 8, 3, 2, act=act), *blocks, conv(24, 48, 1, act=act), *pooled(10, 48)
    )


@network("images", (1, 3, 32, 32))
def mobilenet_v2() -> nn.Module:
    """Its images are scaled in the model."""
    mean, std = torch.rand(3, 1, 1), torch.rand(3, 1, 1) + 0.5
    scale = Lambda(lambda m, x: (x - m.mean) / m.std, mean=mean, std=std)
    blocks = inverted(8, 16, 2, 32), inverted(16, 16, 1, 64), inverted(16, 24, 2, 64)
    return nn.Sequential(
        scale, conv(3, 8, 3, 2, act=nn.ReLU6), *blocks, conv(24, 64, 1), *pooled(10, 64)
    )


@network("tables", (1, 3, 32, 32))
def mobilenet_v3() -> nn.Module:
    def se(n: int) -> nn.Module:
        return gate(n, nn.Hardsigmoid)

    act: Any = nn.Hardswish
    blocks = [
        inverted(8, 16, 2, 24, act=nn.ReLU, se=se),
        inverted(16, 16, 1, 48, act=nn.ReLU),
        inverted(16, 24, 2, 48, 5, act=act, se=se),
        inverted(24, 24, 1, 64, 5, act=act, se=se),
    ]
    tail = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 48), act()]
    first, last = conv(3, 8, 3, 2, act=act), conv(24, 64, 1, act=act)
    return nn.Sequential(first, *blocks, last, *tail, nn.Linear(48, 10))


@network("images", (1, 3, 40, 40))
def mcunet() -> nn.Module:
    """Inverted residuals with windows of 3, 5 and 7."""
    blocks = [
        inverted(8, 8, 1, 24, 7),
        inverted(8, 16, 2, 32, 5),
        inverted(16, 16, 1, 48, 3),
        inverted(16, 24, 2, 64, 7),
    ]
    return nn.Sequential(conv(3, 8, 3, 2, act=nn.ReLU6), *blocks, *pooled(2, 24))


@network("images", (1, 3, 32, 32))
def fomo() -> nn.Module:
    """Classes of cells, a softmax over channels."""
    blocks = inverted(8, 16, 2, 32), inverted(16, 16, 1, 48)
    head = nn.Conv2d(16, 24, 1), nn.ReLU(), nn.Conv2d(24, 4, 1), nn.Softmax(1)
    return nn.Sequential(conv(3, 8, 3, 2, act=nn.ReLU6), *blocks, *head)


@network("images", (1, 3, 32, 32))
def shufflenet_v2() -> nn.Module:
    def shuffled(x: Any) -> Any:
        n, c, h, w = x.shape
        return x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)

    def branch(i: int, o: int, s: int) -> nn.Sequential:
        return nn.Sequential(conv(i, o, 1), conv(o, o, 3, s, o, None), conv(o, o, 1))

    def unit(n: int) -> nn.Module:
        def forward(m: Any, x: Any) -> Any:
            a, b = x.chunk(2, dim=1)
            return shuffled(torch.cat((a, m.b(b)), 1))

        return Lambda(forward, b=branch(n // 2, n // 2, 1))

    def down(i: int, o: int) -> nn.Module:
        def forward(m: Any, x: Any) -> Any:
            return shuffled(torch.cat((m.a(x), m.b(x)), 1))

        a = nn.Sequential(conv(i, i, 3, 2, i, None), conv(i, o // 2, 1))
        return Lambda(forward, a=a, b=branch(i, o // 2, 2))

    layers = conv(3, 12, 3, 2), down(12, 32), unit(32), unit(32), down(32, 48), unit(48)
    return nn.Sequential(*layers, conv(48, 64, 1), *pooled(10, 64))


@network("images", (1, 3, 24, 24))
def multi_task() -> nn.Module:
    """One body; a class, a box, points, and an angle of a unit vector."""

    def forward(m: Any, x: Any) -> Any:
        x = m.body(x)
        y = x.mean((2, 3))
        box = torch.exp(m.box(y).clamp(-3, 3))
        return m.kind(y).softmax(-1), box, m.points(x).tanh(), F.normalize(m.angle(y))

    body = nn.Sequential(conv(3, 16, 3, 2), conv(16, 24, 3, 2), conv(24, 32))
    heads_of = {"kind": 5, "box": 4, "angle": 2}
    layers = {key: nn.Linear(32, size) for key, size in heads_of.items()}
    return Lambda(forward, body=body, points=nn.Conv2d(32, 3, 1), **layers)


@network("images", (1, 1, 24, 24))
def unet_2d() -> nn.Module:
    def forward(m: Any, x: Any) -> Any:
        a = m.a(x)
        b = m.b(F.max_pool2d(a, 2))
        c = m.c(F.max_pool2d(b, 2))
        b = m.d(torch.cat([m.up(c), b], 1))
        return torch.sigmoid(m.out(m.e(torch.cat([m.up(b), a], 1))))

    def two(i: int, o: int) -> nn.Module:
        return nn.Sequential(conv(i, o), conv(o, o))

    up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
    ends = {"up": up, "out": nn.Conv2d(8, 1, 1)}
    down = {"a": two(1, 8), "b": two(8, 16), "c": two(16, 24)}
    return Lambda(forward, d=two(40, 16), e=two(24, 8), **down, **ends)


@network("images", (1, 128))
def dense_autoencoder() -> nn.Module:
    sizes = 128, 64, 64, 8, 64, 64
    layers: list[nn.Module] = []
    for i, o in itertools.pairwise(sizes):
        layers += [nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(64, 128))


@network("tables", (1, 1, 20, 20))
def super_resolution() -> nn.Module:
    layers = nn.Conv2d(1, 16, 5, 1, 2), nn.Tanh(), nn.Conv2d(16, 12, 3, 1, 1), nn.Tanh()
    return nn.Sequential(*layers, nn.Conv2d(12, 9, 3, 1, 1), nn.PixelShuffle(3))


@network("images", (1, 3, 20, 20))
def inception() -> nn.Module:
    def block(i: int, o: int) -> nn.Module:
        branches = nn.ModuleList(
            [
                conv(i, o, 1),
                nn.Sequential(conv(i, o // 2, 1), conv(o // 2, o)),
                nn.Sequential(conv(i, o // 2, 1), conv(o // 2, o, (1, 7))),
                nn.Sequential(nn.AvgPool2d(3, 1, 1), conv(i, o, 1)),
            ]
        )
        return Lambda(lambda m, x: torch.cat([b(x) for b in m.all], 1), all=branches)

    layers = conv(3, 16, 3, 2), block(16, 8), nn.MaxPool2d(3, 2), block(32, 8)
    return nn.Sequential(*layers, *pooled(10, 32))


@network("images", (1, 3, 16, 16))
def gates_of_channels() -> nn.Module:
    """Squeeze and excite: by mean and linear layers, by view, by unsqueeze, by 1-D
    convolution."""

    def forward(m: Any, x: Any) -> Any:
        x = m.a(x)
        y = m.up(F.relu(m.down(x.mean((2, 3)))))
        x = m.b(x * torch.sigmoid(y)[:, :, None, None])
        y = F.adaptive_avg_pool2d(x, 1).view(-1, 16)
        x = m.c(
            x * F.hardsigmoid(m.up(F.relu(m.down(y)))).view(-1, 16, 1, 1).expand_as(x)
        )
        y = F.avg_pool2d(x, 16).squeeze(-1).transpose(-1, -2)
        y = m.eca(y).transpose(-1, -2).unsqueeze(-1)
        return m.fc((x * y.sigmoid()).mean([2, 3]))

    layers = {"a": conv(3, 16), "b": conv(16, 16), "c": conv(16, 16)}
    fc = {"down": nn.Linear(16, 8), "up": nn.Linear(8, 16), "fc": nn.Linear(16, 10)}
    return Lambda(
        forward, eca=nn.Conv1d(1, 1, 3, padding=1, bias=False), **layers, **fc
    )


@network("images", (1, 1, 16, 16))
def computed_weights() -> nn.Module:
    """Weight-normalised, pruned, masked, standardised and tied weights."""

    def forward(m: Any, x: Any) -> Any:
        x = F.relu(m.pruned(F.relu(m.normed(x))))
        w = m.conv.weight * m.mask
        x = F.relu(F.conv2d(x, w, m.conv.bias, 2, 1))
        w = m.conv.weight
        mean, var = w.mean((1, 2, 3), keepdim=True), w.var((1, 2, 3), keepdim=True)
        x = F.relu(F.conv2d(x, (w - mean) / torch.sqrt(var + 1e-5) / 6, None, 2, 1))
        x = F.relu(m.tied(x.flatten(1)))
        return F.linear(x, m.tied.weight.t()) + x @ m.table

    pruned = nn.Conv2d(16, 16, 3, padding=1)
    nn.init.kaiming_normal_(pruned.weight)
    prune.l1_unstructured(pruned, "weight", 0.5)
    return Lambda(
        forward,
        normed=nn.utils.parametrizations.weight_norm(nn.Conv2d(1, 16, 3, padding=1)),
        pruned=pruned,
        conv=nn.Conv2d(16, 16, 3),
        mask=(torch.rand(16, 16, 3, 3) > 0.3).float(),
        tied=nn.Linear(256, 32),
        table=nn.Parameter(torch.randn(32, 256) / 6),
    )


@network("images", (1, 3, 20, 20))
def maxima() -> nn.Module:
    """Adaptive maxima and means, of all and of parts, side by side."""

    def forward(m: Any, x: Any) -> Any:
        x = m.body(x)
        parts = F.adaptive_max_pool2d(x, 2).flatten(1), x.amax((2, 3)), x.mean((2, 3))
        return m.fc(torch.cat(parts, 1))

    body = nn.Sequential(conv(3, 16), nn.AdaptiveMaxPool2d(10), conv(16, 24))
    return Lambda(forward, body=body, fc=nn.Linear(144, 10))


@network("tables", (1, 3, 16, 16))
def style() -> nn.Module:
    """Reflected padding and instance norms; a larger image out of a smaller."""

    def layer(i: int, o: int, k: int, s: int = 1) -> list[nn.Module]:
        norm = nn.InstanceNorm2d(o, affine=True)
        return [nn.ReflectionPad2d(k // 2), nn.Conv2d(i, o, k, s), norm]

    relu, up = nn.ReLU(), nn.Upsample(scale_factor=2)
    body = plus(*layer(16, 16, 3), relu, *layer(16, 16, 3))
    first = *layer(3, 8, 5), relu, *layer(8, 16, 3, 2), relu
    return nn.Sequential(*first, body, up, *layer(16, 8, 3), relu, nn.Conv2d(8, 3, 1))


@network("tables", (1, 1, 64))
def denoiser_1d() -> nn.Module:
    """Reflected padding of series, ELU, a transposed convolution, a skip."""

    def forward(m: Any, x: Any) -> Any:
        y = F.elu(m.a(F.pad(x, (3, 3), mode="reflect")))
        y = F.elu(m.b(F.pad(y, (2, 1), mode="replicate")))
        return x - m.up(y)

    a, b = nn.Conv1d(1, 24, 7), nn.Conv1d(24, 32, 4, 2)
    return Lambda(forward, a=a, b=b, up=nn.ConvTranspose1d(32, 1, 4, 2, 1))
