# Long because it is one table: a model for each part of TorchScript.
"""The models whose archives are committed: each shows a part of TorchScript.

Needs PyTorch; `make_archives.py` saves them and records what they answer.
"""

from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union  # noqa: UP035 - TorchScript wants these

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# ruff: noqa: UP006, UP007, UP031, UP045, C416, B905, RET506, RUF005, RUF021, SIM201


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 3))

    def forward(self, x: Tensor) -> Tensor:
        return F.log_softmax(self.layers(x), dim=-1)

    @torch.jit.export
    def classify(self, x: Tensor) -> Tensor:
        return self.forward(x).argmax(dim=-1)


class ConvNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1, stride=2)
        self.norm = nn.BatchNorm2d(3)
        self.grouped = nn.Conv2d(3, 3, 2, groups=3, bias=False)
        self.head = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.norm(self.conv(x)))
        x = F.max_pool2d(x, 2, stride=1)
        x = F.avg_pool2d(self.grouped(x), 2)
        return self.head(x.flatten(1))


class TextNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4, padding_idx=0)
        self.norm = nn.LayerNorm(4)
        self.out = nn.Linear(4, 2)

    def forward(self, tokens: Tensor, scale: float = 1.0) -> Tuple[Tensor, Tensor]:
        mask = tokens.ne(0).unsqueeze(-1)
        x = self.norm(self.embedding(tokens)) * mask
        pooled = x.sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        scores = self.out(pooled) * scale
        return scores, F.softmax(scores, dim=1)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(4, 12)
        self.heads = 2

    def forward(self, x: Tensor, causal: bool = False) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).unbind(2)
        scores = torch.einsum("blhd,bmhd->bhlm", q, k) / (width // self.heads) ** 0.5
        if causal:
            hidden = torch.ones(length, length, dtype=torch.bool, device=x.device).tril().logical_not()
            scores = scores.masked_fill(hidden, float("-inf"))
        mixed = torch.matmul(scores.softmax(-1), v.permute(0, 2, 1, 3))
        return mixed.transpose(1, 2).reshape(batch, length, width).contiguous()


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(5, 6)

    def forward(self, x: Tensor, state: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        if state is None:
            state = torch.zeros(x.size(1), 3, dtype=x.dtype)
        outputs: List[Tensor] = []
        for step in x:
            update, candidate = self.gate(torch.cat([step, state], 1)).chunk(2, 1)
            z = torch.sigmoid(update)
            state = z * state + (1 - z) * torch.tanh(candidate)
            outputs.append(state)
        return torch.stack(outputs), state


class Activations(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {
            "relu": F.relu(x),
            "gelu": F.gelu(x),
            "gelu_tanh": F.gelu(x, approximate="tanh"),
            "sigmoid": torch.sigmoid(x),
            "tanh": x.tanh(),
            "softmax": F.softmax(x, 1),
            "log_softmax": F.log_softmax(x, 0, dtype=torch.float64),
            "clamp": x.clamp(-0.5, 0.5),
            "exp": x.exp(),
            "abs": x.abs() + 2 * x.neg() - x / 3,
            "where": torch.where(x > 0, x, torch.zeros_like(x)),
        }


class MoreActivations(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {
            "leaky_relu": F.leaky_relu(x, 0.2),
            "elu": F.elu(x),
            "silu": F.silu(x),
            "softplus": F.softplus(x),
            "hardtanh": F.hardtanh(x),
            "glu": F.glu(x, 1),
            "normalize": F.normalize(x),
            "group_norm": F.group_norm(x.unsqueeze(-1), 2),
            "pad": F.pad(x, [1, 1], value=2.0),
            "interpolate": F.interpolate(x[None, None], scale_factor=2.0),
        }


class ControlFlow(nn.Module):
    def forward(self, x: Tensor, mode: str, limit: int = 3, bonus: Optional[int] = None) -> Tensor:
        if mode == "early":
            return x
        total = x
        for i in range(10):
            if i == 1:
                continue
            if i > limit:
                break
            total = total + i
        if mode == "inside":
            for i in range(5):
                if i * limit > 5:
                    return total * i
        count = 0
        while total.sum() < 40.0:
            total = total + 1
            count += 1
            if count == 7:
                break
        if bonus is not None:
            total = total + bonus
        value = 0
        for i, (a, b) in enumerate(zip([1, 2, 3], [4.0, 5.0, 6.0])):
            value += int(a * b) + i
        for i in range(9, 2, -3):
            value += i
        if mode == "value":
            raise ValueError("mode " + mode)
        elif mode == "assert":
            assert limit > 100, f"limit is {limit}"
        elif mode == "plain":
            raise RuntimeError("plain")
        elif mode == "shape":
            return total @ torch.ones(7)
        return total * (1 if x.dim() == 1 and limit < 5 or mode == "scale" else 2) + value


class Numbers(nn.Module):
    def forward(self, a: int, b: int, x: float, y: float) -> Tuple[List[int], List[float], List[bool]]:
        ints = [
            a + b,
            a - b,
            a * b,
            a // b,
            a % b,
            -a,
            abs(a),
            max(a, b),
            min(a, b),
            a << 3,
            a >> 1,
            a & b,
            a | b,
            a ^ b,
        ]
        ints += [int(x), int(a / b), len([a, b]), int("12"), int(True), divmod(a, b)[1], a * a * a * a * a]
        floats = [
            a / b,
            x + y,
            x - y,
            x * y,
            x / y,
            x // y,
            x % y,
            x**y,
            a**b,
            -x,
            abs(x),
            max(x, y),
            min(a, x),
        ]
        floats += [float(a), float("2.5"), round(x), x * a, float("inf"), -float("inf"), 1e-20 * x]
        flags = [a < b, a <= b, a > b, a >= b, a == b, a != b, x < y, bool(a), not (a == b), a == 3 and x < y]
        flags += [isinstance(a, int), a in [1, 2, 7], x == y or a > 100, a is None]
        return ints, floats, flags


class Strings(nn.Module):
    def forward(self, s: str, n: int, x: float, t: Tensor) -> List[str]:
        out = [s + "!", s.upper(), s.lower(), s.strip(), s.replace("b", "-"), s[0], s[1:3], s[-2:]]
        out += s.split(",")
        out += ["+".join(["1", "2"]), f"{n} and {x}", "%d:%s" % (n, s), "{}|{}".format([n, 2], {"k": 1.5})]
        out += [str(n), str(x), str(t), str([True, False]), str((1, "a", None)), 'é\n\t"q"\'']
        if s.startswith("a") and "b" in s and not s.endswith("z") and s.find("b") == 1 and len(s) > n:
            out.append(s.title())
        print(s, n, x, [x, 2.0], t, (n,), None)
        return out


class Containers(nn.Module):
    def forward(self, xs: List[int], d: Dict[str, Tensor]) -> Tuple[List[int], Dict[str, Tensor], List[str], int]:
        ys = [x * 2 for x in xs]
        ys.append(7)
        ys.extend(xs)
        ys.insert(0, 9)
        last = ys.pop()
        ys[1] += 100
        del ys[2]
        ys.remove(7)
        ys.reverse()
        ys += [last]
        ys = ys + [0] * 2 + xs[1:] + sorted(xs)
        zs = ys.copy()
        zs.sort(reverse=True)
        zs.clear()
        e: Dict[str, Tensor] = {}
        for key, value in d.items():
            e[key + "2"] = value * 2
        names = list(e.keys())
        names.sort()
        if "a2" in e:
            e["a3"] = e["a2"] + 1
            del e["a2"]
        popped = e.pop("b2")
        got = d.get("zz")
        if got is None:
            names.append("none")
        e["sum"] = popped + torch.stack([v for v in d.values()]).sum()
        count = ys.count(0) + ys.index(9) + len(e) + len(zs) + sum(xs)
        return ys, e, names, count


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(width, dtype=torch.float32))
        self.register_buffer("seen", torch.zeros(1))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.seen.add_(x.sum())
        return x * self.weight

    @torch.jit.export
    def total(self) -> Tensor:
        return self.weight.sum() + self.calls


class Tree(nn.Module):
    history: List[float]

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(2), Block(2)])
        self.named = nn.ModuleDict({"left": Block(2), "right": Block(2)})
        self.steps = nn.Sequential(Block(2), nn.Identity(), Block(2))
        self.scales = nn.ParameterList([nn.Parameter(torch.tensor([2.0])), nn.Parameter(torch.tensor([0.5]))])
        self.tied = nn.Linear(2, 2, bias=False)
        self.tied_again = nn.Linear(2, 2, bias=False)
        self.tied_again.weight = self.tied.weight
        self.history = []

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x) + 1
        for name, block in self.named.items():
            x = x + block(x) * len(name)
        for scale in self.scales:
            x = x * scale
        self.history.append(float(x.sum()))
        return self.tied_again(self.tied(self.steps(x)))

    @torch.jit.export
    def report(self, detail: bool = False) -> Tuple[float, int, List[float]]:
        calls = 0
        for block in self.blocks:
            calls += block.calls
        return (self.blocks[0].total() + self.named["left"].total()).item(), calls, self.history


class Attributes(nn.Module):
    nothing: Optional[int]
    something: Optional[int]
    no_ints: List[int]
    by_number: Dict[int, str]

    def __init__(self) -> None:
        super().__init__()
        self.count = 3
        self.big = 2**40
        self.ratio = 1.5
        self.infinite = float("inf")
        self.flag = True
        self.name = "a model"
        self.number = 1 + 2j
        self.nothing = None
        self.something = 4
        self.no_ints = []
        self.ints = [1, 2, 3]
        self.floats = [1.0, 2.5]
        self.flags = [True, False]
        self.names = ["x", "yé"]
        self.nested = [[1], [2, 3]]
        self.table = {"one": 1, "two": 2}
        self.by_number = {1: "one"}
        self.pair = (1, "two", [3.0])
        self.tensors = [torch.ones(2), torch.zeros(1, dtype=torch.int64)]
        self.tensor_map = {"a": torch.tensor([1.0, 2.0])}
        self.device = torch.device("cpu")
        self.dtype = torch.float64
        base = torch.arange(12, dtype=torch.float32)
        self.register_buffer("row", base.view(3, 4)[1])
        self.register_buffer("column", base.view(3, 4)[:, 2])
        self.register_buffer("whole", base)
        self.register_buffer("transposed", base.view(3, 4).t())
        self.register_buffer("hidden", torch.tensor([True, False]), persistent=False)
        self.half = torch.tensor([1.5, -2.0], dtype=torch.float16)
        self.double = torch.tensor(2.5, dtype=torch.float64)
        self.bytes = torch.tensor([1, 255], dtype=torch.uint8)
        self.short = torch.tensor([[1, -2]], dtype=torch.int16)
        self.empty = torch.empty(0, 3)
        self.complex = torch.tensor([1 + 2j])
        self.expanded = torch.ones(1).expand(2, 3)

    def forward(self, x: Tensor) -> Tensor:
        self.whole.add_(1)
        self.table["three"] = 3
        self.count += self.table["one"]
        return x + self.row.sum() + self.column.sum() + self.count + self.ratio + len(self.names)


class Indexing(nn.Module):
    def forward(self, x: Tensor, rows: Tensor) -> List[Tensor]:
        y = x.clone()
        y[0] = 5.0
        y[:, 1] = y[:, 2]
        y[1, 1] *= 3
        y[y > 6] = -1.0
        z = x.clone()
        z[rows] = 0.0
        views = [x[0], x[-1, 1:], x[:, None], x[..., 0], x[::2], x[rows], x[x > 2], x[rows, 1], x[1:, rows]]
        shapes = [
            x.t(),
            x.view(-1),
            x.reshape(4, 3),
            x.permute(1, 0),
            x.unsqueeze(1).squeeze(1),
            x.expand(2, 3, 4),
        ]
        shapes += [x.narrow(1, 1, 2), x.select(0, 1), x.diagonal(), x.flatten(), x.repeat(1, 2)]
        parts = x.split(2, 1)
        shapes += [
            parts[0],
            x.chunk(2, 1)[1],
            torch.cat([x, x], 1),
            torch.stack([x[0], x[1]]),
            x.gather(1, rows[None]),
        ]
        return [y, z] + views + shapes


class Reductions(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        values, where = x.max(dim=1)
        out = [
            x.sum(),
            x.sum(dim=[0, 1], keepdim=True),
            x.mean(1),
            x.std(),
            x.std(dim=1),
            x.max(),
            x.min(),
            values,
            where,
        ]
        out += [
            x.argmax(),
            x.argmin(dim=0),
            x.prod(),
            x.norm(),
            x.cumsum(1),
            x.amax(dim=1),
            x.var(dim=0, unbiased=False),
        ]
        out += [
            torch.tensor(x.numel()),
            (x > 2).any(),
            (x > 0).all(),
            torch.norm(x, 2, [1]),
            x.sum(dtype=torch.float64),
        ]
        return out


class Factories(nn.Module):
    def forward(self, x: Tensor, n: int) -> List[Tensor]:
        out = [torch.zeros(n, 2), torch.ones([2], dtype=torch.int64), torch.full([2], 7.0), torch.arange(n)]
        out += [torch.arange(1, n, 2, dtype=torch.float32), torch.linspace(0, 1, 3), torch.eye(2)]
        out += [
            torch.tensor([1.5, 2.0]),
            torch.tensor([[1, 2], [n, 4]]),
            torch.tensor(True),
            torch.zeros_like(x),
        ]
        out += [
            torch.full_like(x, 2.0),
            x.new_zeros([2]),
            x.new_ones([1]),
            x.to(torch.float64),
            x.to("cpu"),
            x.long(),
        ]
        out += [
            x.type_as(torch.ones(1, dtype=torch.float64)),
            x.int().float(),
            torch.ones_like(x, dtype=torch.bool),
        ]
        return out


class Losses(nn.Module):
    def forward(self, x: Tensor, target: Tensor) -> List[Tensor]:
        y = x.detach() * 0.5
        return [
            F.cross_entropy(x, target),
            F.cross_entropy(x, target, reduction="sum"),
            F.mse_loss(x, y),
            F.mse_loss(x, y, reduction="none"),
        ]


class Point(NamedTuple):
    x: Tensor
    label: str


class Mode(Enum):
    FAST = 1
    SLOW = 2


@torch.jit.script
class Counter:
    def __init__(self, start: int) -> None:
        self.value = start
        self.log: List[str] = []

    def add(self, amount: int) -> int:
        self.value += amount
        self.log.append(str(amount))
        return self.value


@torch.jit.interface
class Scorer(nn.Module):
    def score(self, x: Tensor) -> Tensor:
        pass


class Doubler(nn.Module):
    def score(self, x: Tensor) -> Tensor:
        return x * 2


def scaled(x: Tensor, by: float = 2.0) -> Tensor:
    return x * by


class Classes(nn.Module):
    scorer: Scorer
    kept: Counter

    def __init__(self) -> None:
        super().__init__()
        self.scorer = Doubler()
        self.mode = Mode.FAST
        self.kept = Counter(10)

    def forward(self, x: Tensor, any: Any, either: Union[int, str]) -> Tuple[Point, int, List[str], str, Tensor]:
        counter = Counter(5)
        counter.add(2)
        kept = self.kept.add(counter.add(3))
        point = Point(self.scorer.score(x), "p")
        kind = "other"
        if isinstance(any, Tensor):
            kind = "tensor"
        elif isinstance(any, (int, float)):
            kind = "number"
        elif isinstance(any, List[int]):
            kind = "ints"
        if isinstance(either, int):
            kind += str(either + 1)
        else:
            kind += either
        if self.mode == Mode.FAST:
            kind += self.mode.name
        future = torch.jit.fork(scaled, x, 3.0)
        return point, kept, counter.log + [point.label], kind, torch.jit.wait(future)


class Guards(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, bool]:
        with torch.no_grad():
            fixed = x * self.weight
            inside = torch.is_grad_enabled()
        return fixed, x * self.weight, (x * self.weight).detach(), inside


def before(self: Any, inputs: Tuple[Tensor]) -> Tuple[Tensor]:
    return (inputs[0] * 2,)


def after(self: Any, inputs: Tuple[Tensor], output: Tensor) -> Tensor:
    return output + 1


class Hooked(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 10


class HookedParent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.child = Hooked()
        for module in (self, self.child):
            module.register_forward_pre_hook(before)
            module.register_forward_hook(after)

    def forward(self, x: Tensor) -> Tensor:
        return self.child(x)


class Stateful(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.loaded = 0
        self.weight = nn.Parameter(torch.tensor([3.0]))

    @torch.jit.export
    def __getstate__(self) -> Tuple[int, Tensor, bool]:
        return self.loaded, self.weight, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[int, Tensor, bool]) -> None:
        self.loaded = state[0] + 1
        self.weight = state[1]
        self.training = state[2]

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight + self.loaded


class Defined(torch.jit.ScriptModule):
    """Its source is a string, so that its debug records name no file."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))
        self.define("def forward(self, x):\n    return x * self.weight\n")
