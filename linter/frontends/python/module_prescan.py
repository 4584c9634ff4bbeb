"""What a file says as a whole: what it exports, what it trains with, where an import can be added."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import guards
from ...facts.python_model import Training
from ...guards import canonical_name
from ...lazy_regex import lazy_regex
from .name_resolution import resolve, resolve_name
from .parsed_module import Module
from .syntax_walking import walk, walk_on

_FSDP = frozenset({"FullyShardedDataParallel", "FSDP", "fully_shard"})
_FSDP_STRATEGIES = frozenset(
    {"FSDPStrategy", "FSDP2Strategy", "ModelParallelStrategy", "FullyShardedDataParallelPlugin"}
)
"""Objects that a trainer, Lightning Fabric or Accelerate is given to wrap its model with FSDP."""
_DEEPSPEED = frozenset({"DeepSpeedStrategy", "DeepSpeedPlugin"})
_DIFFERENTIATES = frozenset({"backward", "manual_backward", "backward_pass"})
_SETS_UP_TRAINING = lazy_regex(r"(?i)^(?:fabric|accelerator)$")
_SET_UPS = frozenset({"setup", "prepare"})
_OPTIMIZES = lazy_regex(r"(?i)optim|\bopt\b|^\*")
"""In an argument: with the model its optimizer is set up. A model alone is set up to be run as well."""


_MAY_WRAP = lazy_regex(
    rb"\b(?:"
    + b"|".join(word.encode() for word in sorted(_FSDP | _FSDP_STRATEGIES | _DEEPSPEED))
    + rb"|deepspeed|torch_xla"
    rb"|compile)\b"
)
"""What is in a file with a sign."""
_ON_ROWS = (
    *sorted(word.lower().encode() for word in _FSDP | _FSDP_STRATEGIES | _DEEPSPEED),
    *(b"deepspeed", b"torch_xla", b"compile", b"backward", b"trainer", b"gradscaler", b"fabric", b"accelerator"),
)
"""Each row with a sign, or with something that trains, has one of these in small letters."""


def torch_name(module: Module) -> str:
    """The name under which the file has torch; empty when it has not."""
    names = module.scope.bound
    candidates = (name for name in ("torch", *names) if name in names)
    return next((n for n in candidates if resolve_name(n, module.scope) in guards.PYTHON_MODULES), "")


def exports(module: Module) -> Iterator[tuple[str, str]]:
    """(name, dotted name) of guards and possible guards that the module binds at its top."""
    yield from ((name, guards.ENTERED_MODE) for name in sorted(module.entered))
    for name, bindings in module.scope.bound.items():
        for binding in bindings:
            last = binding.rpartition(".")[2] if isinstance(binding, str) else ""
            if isinstance(binding, (ast.Name, ast.Attribute)):
                last = binding.attr if isinstance(binding, ast.Attribute) else binding.id
            if last in module.words:
                meaning = resolve_name(name, module.scope)
                if meaning is not None:
                    yield name, meaning
                break


def training_signs(module: Module) -> tuple[tuple[Training, ...], bool]:
    """(signs that the file trains with something that inference tensors do not mix with, whether it trains at all).

    Whether it trains is only looked for when there are such signs. Training is a call of `backward`, a class or call of
    a `…Trainer`, a model that Lightning Fabric, Accelerate or DeepSpeed sets up, or a `GradScaler`. Names in comments
    and strings don't count.
    """
    if _MAY_WRAP.search(module.source.text) is None:
        return (), False
    signs: dict[str, Training] = {}
    trains = False
    for node in walk_on(_rows_with_signs(module), module.tree):
        what = ""
        if isinstance(node, ast.Call):
            last = _last(node.func)
            trains = trains or last in _DIFFERENTIATES or last.endswith("Trainer") or _sets_up_training(node)
            what = _wraps(node.func, module)
        elif isinstance(node, ast.ClassDef):
            trains = trains or any(_last(base).endswith("Trainer") for base in node.bases)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                if what := _wraps(decorator, module):
                    node = decorator
                    break
        elif isinstance(node, ast.Attribute):
            # `FSDP.summon_full_params(model)`
            what = _wraps(node.value, module) if _last(node.value) in _FSDP else ""
        elif isinstance(node, ast.Import):
            what = "XLA" if any(alias.name.split(".")[0] == "torch_xla" for alias in node.names) else ""
        elif isinstance(node, ast.ImportFrom):
            what = "XLA" if (node.module or "").split(".")[0] == "torch_xla" and not node.level else ""
        if what:
            signs.setdefault(what, Training(what, module.span(node)))
    return tuple(sorted(signs.values(), key=lambda sign: sign.span)), trains


def _rows_with_signs(module: Module) -> list[int]:
    text = module.source.text.lower()
    rows = set()
    for word in _ON_ROWS:
        at = text.find(word)
        while at >= 0:
            rows.add(module.source.row(at))
            at = text.find(word, at + 1)
    return sorted(rows)


def _sets_up_training(call: ast.Call) -> bool:
    """Whether a model is handed over to be trained: `fabric.setup(model, optimizer)`, `GradScaler()`."""
    called = call.func
    if _last(called) == "GradScaler":
        return True
    if not isinstance(called, ast.Attribute):
        return False
    owner = _last(called.value).strip("_")
    if _SETS_UP_TRAINING.match(owner) is not None:
        optimizes = any(_OPTIMIZES.search(ast.unparse(argument)) for argument in call.args)
        return called.attr == "setup_optimizers" or (called.attr in _SET_UPS and optimizes)
    return called.attr == "initialize" and owner == "deepspeed"


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _wraps(node: ast.expr, module: Module) -> str:
    """What a function that is called, or decorates, wraps a model with: FSDP, DeepSpeed or torch.compile."""
    last = _last(node)
    if last in _FSDP:
        name = resolve(node, module.scope)
        # What the project does not import from torch may come from a library that hands it on.
        return "FSDP" if name is None or name.rpartition(".")[2] in _FSDP else ""
    if last in _FSDP_STRATEGIES:
        return "FSDP"
    if last in _DEEPSPEED or (
        last == "initialize" and isinstance(node, ast.Attribute) and _last(node.value) == "deepspeed"
    ):
        return "DeepSpeed"
    if last == "compile":
        return "torch.compile" if canonical_name(resolve(node, module.scope) or "") == "torch.compile" else ""
    return ""


def imports_end(module: Module) -> int:
    """Where a further import can be written: after the last import at the top, or the module's docstring."""
    row = 0
    for index, node in enumerate(module.tree.body):
        is_docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, (ast.Import, ast.ImportFrom)) or is_docstring:
            row = node.end_lineno or node.lineno
        elif row:
            break
    return module.start_of_row(row)


_OF_SCRIPTS = frozenset({"parse_args", "parse_known_args"})
_STARTS = frozenset({"app", "cli", "exit", "Fire", "main", "print", "run"})
"""What a script calls at its top: `sys.exit(main())`, `fire.Fire(…)`, `app.run()`."""


def is_script(module: Module) -> bool:
    """Whether the file is run rather than imported."""
    if module.source.text.startswith(b"#!"):
        return True
    for node in module.tree.body:
        test = walk(node.test) if isinstance(node, ast.If) else ()
        if "__name__" in {part.id for part in test if isinstance(part, ast.Name)}:
            return True
        if isinstance(node, (ast.For, ast.While, ast.With)):
            return True
        value = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
        called = _last(value.func) if isinstance(value, ast.Call) else ""
        if called in _OF_SCRIPTS or (called in _STARTS and isinstance(node, ast.Expr)):
            return True
    return False
