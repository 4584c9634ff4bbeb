"""Python's functions, classes and modules as the statements that both languages share, in their printed form."""

from __future__ import annotations

import sysconfig
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from guardfix.linter.facts import Facts, Span
from guardfix.linter.facts.bodies import Body, BodyKind, StatementNode
from guardfix.linter.facts.expressions import LambdaExpression
from guardfix.linter.facts.packing import pack, unpack
from guardfix.linter.files.sources import Unreadable, decode
from guardfix.linter.frontends.python import python_body_pruning, python_reach, python_statements
from guardfix.linter.frontends.python.parsed_module import Module
from guardfix.linter.frontends.python.python_expressions import PythonExpressionReader
from guardfix.linter.frontends.python.python_extraction import extract_python
from guardfix.linter.frontends.python.python_parsing import parse_python
from guardfix.linter.frontends.python.python_statements import BodyReading


def parts_of(value: object) -> Iterator[object]:
    """The statements and expressions in a body or block, the bodies inside it aside."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, tuple):
            waiting += reversed(current)
        elif isinstance(current, Struct) and (current is value or not isinstance(current, Body)):
            yield current
            waiting += [getattr(current, name) for name in reversed(current.__struct_fields__)]


def bodies_below(body: Body) -> Iterator[Body]:
    yield body
    for inner in body.inner:
        yield from bodies_below(inner)


def body_of(code: str) -> Body:
    """The body of a module, all of which is read."""
    source = decode(code.encode(), "a.py")
    tree = parse_python(code)
    assert tree is not None
    module = Module(source, tree)
    body = BodyReading(module, PythonExpressionReader(module), {}).read()
    packed = Facts("a.py", "python", bodies=(body,))
    assert unpack(Facts, pack(packed)).bodies == (body,)
    return body


def printed(code: str) -> str:
    first, *lines = str(body_of(code)).splitlines()
    assert first == "module:"
    return textwrap.dedent("\n".join(lines)).strip()


SAME = {
    "two targets": "a = b = f(x)",
    "unpacking": "(a, *b) = [c, d] = f(x)",
    "an attribute and an element": "a.b = a[0].c = 1",
    "an element changed": "x[0] += y",
    "an effect": "f(x, *a, key=1, **k)",
    "del": "del x.y, z[0]",
    "a conditional expression": "x = y if c else z",
    "an operation in brackets": "x = (a + b) * c",
    "a dict": 'x = {"a": 1, **y}',
    "slices": "x = y[1:, ::2, :z]",
    "comprehensions": "x = [[a * b for b in c if b if d] for a in c]",
    "a walrus in a condition": "if x := f():\n    g(x)",
    "elif": "if a:\n    b\nelif c:\n    d\nelse:\n    e",
    "for with else": "for (a, b) in c:\n    continue\nelse:\n    d",
    "while with else": "while a:\n    break\nelse:\n    d",
    "endless": "while True:\n    a",
    "try": "try:\n    a\nexcept (A, B) as e:\n    raise\nexcept:\n    raise e\nelse:\n    b\nfinally:\n    c",
    "with": "with a() as b, c, d as (e, f):\n    g",
    "global": "def f():\n    global a, b\n    a = 1",
    "nonlocal": "def f():\n    def g():\n        nonlocal a\n        a = 1",
    "a function": "@a\n@b(1)\ndef f(x: int = 1, *rest, **others) -> T:\n    return x",
    "a class": "class A(B, c.D):\n    x = 1\n    @property\n    def f(self):\n        return",
    "a class in a function": "def f():\n    class A():\n        pass\n    return A()",
}


@pytest.mark.parametrize("code", SAME.values(), ids=SAME.keys())
def test_plain_python_is_printed_as_it_is_written(code: str) -> None:
    body = "\n".join(line for line in code.splitlines() if line.strip() != "pass" or "class" not in code)
    assert printed(code) == body


OTHER = {
    "docstrings, pass and literals are nothing": ('"""x"""\npass\n...\nx = 1', "x = 1"),
    "a declaration": ("x: int", "declare x: int"),
    "a declaration with a value": ("x: int = 1", "declare x: int = 1"),
    "endless by another literal": ("while 1: a", "while True:\n    a"),
    "assert": ("assert a", "if not a:\n    raise AssertionError()"),
    "assert with a message": ("assert a or b, f(c)", "if not (a or b):\n    raise AssertionError(f(c))"),
    "raise from": ("raise a from b", "raise a"),
    "leaving the program": (
        "import sys, os\nfrom sys import exit as leave\nsys.exit(1)\nos._exit(2)\nleave()\nexit()",
        "import sys as sys\nimport os as os\nimport sys.exit as leave\n"
        "raise sys.exit(1)\nraise os._exit(2)\nraise leave()\nraise exit()",
    ),
    "a function of its own called exit": ("def exit(): ...\nexit()", "def exit():\nexit()"),
    "a method called exit": ("x.exit()", "x.exit()"),
    "imports": (
        "import a.b\nimport a.b as c\nfrom a import b, c as d\nfrom . import e\nfrom ..f import g\nfrom h import *",
        "import a as a\nimport a.b as c\nimport a.b as b\nimport a.c as d\n"
        "import .e as e\nimport ..f.g as g\nimport h as *",
    ),
    "the future isn't imported": ("from __future__ import annotations\nx", "x"),
    "for checkers alone": ("if TYPE_CHECKING:\n    import a\nx", "x"),
    "for all but checkers": ("if typing.TYPE_CHECKING:\n    import a\nelse:\n    b = 1", "b = 1"),
    "not for checkers": ("if not TYPE_CHECKING:\n    b = 1\nelse:\n    import a", "b = 1"),
    "for checkers, or on a condition": (
        "if TYPE_CHECKING:\n    a\nelif b:\n    c\nelse:\n    d",
        "if b:\n    c\nelse:\n    d",
    ),
    "an imported alternative": (
        "try:\n    import a\nexcept ImportError:\n    a = None",
        "try:\n    import a as a\nexcept ImportError:\n    a = None",
    ),
    "the kinds of parameters": ("def f(a, /, b, *, c=1): ...", "def f(/a, b, =c = 1):"),
    "a coroutine": (
        "async def f():\n    async with a as b:\n        async for c in d:\n            await e",
        "async def f():\n    with await a as b:\n        for c in await d:\n            await e",
    ),
    "a generator": (
        "def f():\n    x = yield\n    yield x\n    yield from y",
        "def generator f():\n    x = yield\n    yield x\n    yield from y",
    ),
    "around a generator": (
        "def f():\n    def g():\n        yield 1\n    return g",
        "def f():\n    def generator g():\n        yield 1\n    return g",
    ),
    "lambdas": (
        "x = [lambda: 1, lambda a, *b: f(lambda: a)]",
        "x = [lambda: 1, lambda a, *b: f(lambda: a)]\n#0 lambda ():\n    return 1\n"
        "#1 lambda (a, *b):\n    return f(lambda: a)\n    #0 lambda ():\n        return a",
    ),
    "what a function is given is evaluated around it": (
        "@f(lambda: 1)\ndef g(h=lambda: 2):\n    return lambda: 3",
        "@f(lambda: 1)\ndef g(h = lambda: 2):\n    return lambda: 3\n    #0 lambda ():\n        return 3\n"
        "#0 lambda ():\n    return 1\n#1 lambda ():\n    return 2",
    ),
    "a chain of comparisons": ("if a < b <= c: d", "if a < b and b <= c:\n    d"),
    "except*": ("try: a\nexcept* B as e: c", "try:\n    a\nexcept B as e:\n    c"),
    "match": (
        "match x:\n    case 1 | 'a': a\n    case None: b\n    case Foo(): c\n    case _: d",
        "if x == 1 or x == 'a':\n    a\nelif x is None:\n    b\nelif isinstance(x, Foo):\n    c\nelse:\n    d",
    ),
    "match of what is computed": (
        "match f(x):\n    case 1: a",
        "<subject> = f(x)\nif <subject> == 1:\n    a",
    ),
    "match binds": (
        "match x:\n    case (a, *b): c\n    case Foo(y=d) as e: f\n    case {'g': h, **i}: j\n    case k: l",
        "if x == (a, *b):\n    (a, *b) = x\n    c\nelif x == Foo(y=d):\n    d = x\n    e = x\n    f\n"
        "elif x == {'g': h, **i}:\n    i = x\n    h = x\n    j\nelse:\n    k = x\n    l",
    ),
    "match with a guard binds before it asks": (
        "match x:\n    case y if y > 1: a\n    case _: b",
        "y = x\nif y > 1:\n    a\nelse:\n    b",
    ),
}


@pytest.mark.parametrize(("code", "expected"), OTHER.values(), ids=OTHER.keys())
def test_python_that_is_written_in_another_way(code: str, expected: str) -> None:
    assert printed(code) == expected


NAMES = {
    "torch's names in full": (
        "import torch as t, torch.nn.functional as F\nx = F.relu(t.ones(1))",
        "x = torch.nn.functional.relu(torch.ones(1))",
    ),
    "those of others as written": ("import numpy as np\nx = np.ones(1)", "x = np.ones(1)"),
    "a variable's attributes": ("from a import b\nx = b.torch.ones(1)", "x = b.torch.ones(1)"),
    "an alias, but not where it is bound": (
        "import torch\nrelu = torch.relu\nx = relu(1)",
        "relu = torch.relu\nx = torch.relu(1)",
    ),
    "a parameter hides an import": (
        "from torch import nn\ndef f(nn): return nn.x",
        "def f(nn):\n    return nn.x",
    ),
    "so does that of a lambda": (
        "from torch import nn\nf = lambda nn: nn.x",
        "f = lambda nn: nn.x\n#0 lambda (nn):\n    return nn.x",
    ),
    "and a comprehension's variable": (
        "from torch import nn\nx = [nn.a for nn in nn.b]",
        "x = [nn.a for nn in torch.nn.b]",
    ),
    "a class's names aren't seen in its methods": (
        "from torch import nn\nclass A:\n    nn = 1\n    def f(self): return nn.x",
        "class A():\n    nn = 1\n    def f(self):\n        return torch.nn.x",
    ),
    "Python's own names stay under import *": (
        "from torch import *\nx = 1\nprint(ones(1), sum(x))",
        "x = 1\nprint(torch.ones(1), torch.sum(x))",
    ),
}


@pytest.mark.parametrize(("code", "expected"), NAMES.values(), ids=NAMES.keys())
def test_names(code: str, expected: str) -> None:
    lines = [line for line in printed(code).splitlines() if not line.startswith("import")]
    assert "\n".join(lines) == expected


def test_a_lambda_says_which_body_it_has() -> None:
    body = body_of("f(lambda: 1, key=lambda: 2)")
    assert [part.body for part in parts_of(body.statements) if isinstance(part, LambdaExpression)] == [0, 1]
    assert [inner.span for inner in body.inner] == [Span(2, 11), Span(17, 26)]
    assert [inner.header for inner in body.inner] == [Span(2, 9), Span(17, 24)]


PLACES = [
    ("x = 1  # y\nf(a,\n  b)", ["x = 1", "f(a,\n  b)"]),
    ("import a, b\nfrom c import (\n    d)", ["import a, b"] * 2 + ["from c import (\n    d)"]),
    ("if (a  # :\n    ) : b\nelif c: d\nelse: e", ["if (a  # :\n    ) :", "b", "elif c:", "d", "e"]),
    ("for a in b: c\nelse: d", ["for a in b:", "c", "d"]),
    ("while a: b", ["while a:", "b"]),
    ("with a() as (b), \\\n  c: d", ["with a() as (b), \\\n  c:", "d"]),
    ("try : a\nexcept b: c\nfinally: d", ["try :", "a", "c", "d"]),
    ("@a\n@b\ndef f(c=d(':'), *, e): f", ["def f(c=d(':'), *, e):"]),
    ("def f(a,\n  /,  # :\n  ) -> b[1]: # c\n  d", ["def f(a,\n  /,  # :\n  ) -> b[1]:"]),
    ("async  def  f ( ) : # :\n  a", ["async  def  f ( ) :"]),
    ("class A : pass", ["class A :"]),
    ("class A(B, c=d,): # :\n  a = 1", ["class A(B, c=d,):"]),
    ("match a:\n  case (1) : b\n  case _ if (c): d", ["case (1) :", "b", "case _ if (c):", "d"]),
    ("assert a, b", ["assert a, b"] * 2),
    ("ä = 'ö'; ü = a", ["ä = 'ö'", "ü = a"]),
]


@pytest.mark.parametrize(("code", "written"), PLACES, ids=[code.split("\n")[-1] for code, _ in PLACES])
def test_a_statement_stands_where_its_text_or_its_header_does(code: str, written: list[str]) -> None:
    spans = [part.span for part in parts_of(body_of(code).statements) if isinstance(part, StatementNode)]
    assert [code.encode()[span.start : span.end].decode() for span in spans] == written


def test_a_body_knows_where_it_stands() -> None:
    code = "import torch\nclass A:\n  @torch.inference_mode()\n  def f(self): return lambda: 1\n"
    facts = extract_python(decode(code.encode(), "a.py"))
    assert facts is not None
    (module,) = facts.bodies
    bodies = list(bodies_below(module))
    assert [body.kind for body in bodies] == [BodyKind.MODULE, BodyKind.CLASS, BodyKind.FUNCTION, BodyKind.LAMBDA]
    assert [body.qualified for body in bodies] == [(), ("A",), ("A", "f"), ("A", "f")]
    written = [code[body.span.start : body.span.end] for body in bodies]
    assert written == [code, code[13:-1], code[24:-1], "lambda: 1"]
    assert [code[body.header.start : body.header.end] for body in bodies[1:]] == ["class A:", "def f(self):", "lambda:"]
    assert [body.function for body in bodies] == [None, None, 0, None]
    assert facts.functions[0].name == "f"


# -- what is read

GUARDED = "def quiet(x):\n    with torch.inference_mode():\n        return x\n"

READ = {
    "what holds a guard": (f"{GUARDED}def f(): 1\n", {"quiet"}),
    "what is decorated with one": ("@torch.inference_mode()\ndef g(): 1\ndef f(): 1\n", {"g"}),
    "the callers, and theirs": (f"{GUARDED}def f(): quiet(1)\ndef g(): f()\ndef h(): 1\n", {"quiet", "f", "g"}),
    "what it calls": (
        "def f(): g()\n@torch.inference_mode()\ndef h(): f()\ndef g(): 1\ndef i(): 1\n",
        {"f", "g", "h"},
    ),
    "what callers call": (f"{GUARDED}def f(): g(quiet(1))\ndef g(x): 1\ndef h(): g(1)\n", {"quiet", "f", "g"}),
    "the methods of its object": (
        "class A:\n    @torch.inference_mode()\n    def f(self): 1\n    def g(self): 1\n    def h(self): 1\n",
        {"A", "f", "g", "h"},
    ),
    "but no tests": (
        "class A:\n    def test_f(self):\n        with torch.inference_mode(): 1\n    def test_g(self): 1\n"
        "    def setup(self): 1\n",
        {"A", "test_f", "setup"},
    ),
    "of another class what is called, and what makes its objects": (
        f"{GUARDED}class A:\n    def __init__(self): 1\n    def f(self): quiet(1)\n    def g(self): 1\n",
        {"quiet", "A", "f", "__init__"},
    ),
    "all of a class that is named": (
        f"{GUARDED}def f(): A(quiet(1))\nclass A:\n    def __call__(self): 1\n    def g(self): 1\n",
        {"quiet", "f", "A", "__call__", "g"},
    ),
    "of those with the same name what is called": (
        f"{GUARDED}class A:\n    def f(self): quiet(1)\nclass B:\n    def f(self): 1\nclass C:\n    def g(self): 1\n",
        {"quiet", "A", "f"},
    ),
    "what the module calls under a guard": (
        "def f(): 1\ndef g(): 1\nwith torch.inference_mode():\n    f()\n",
        {"f"},
    ),
    "what the module calls beside a guard": (f"{GUARDED}def f(): 1\ndef g(): 1\nf(quiet(1))\n", {"quiet", "f"}),
    "no exports": (f"{GUARDED}def f(): 1\n__all__ = ['quiet', 'f']\n", {"quiet"}),
    "no guard that is only imported": ("from torch import inference_mode\ndef f(): 1\n", None),
    "functions in functions": ("@torch.inference_mode()\ndef f():\n    def g(): 1\n", {"f", "g"}),
    "functions in branches": (f"if a:\n    def f(): 1\nelse:\n    def g(): quiet(1)\n{GUARDED}", {"quiet", "g"}),
}


@pytest.mark.parametrize(("code", "expected"), READ.values(), ids=READ.keys())
def test_what_guards_reach_is_read(code: str, expected: set[str] | None) -> None:
    assert read_in("import torch\n" + code) == expected


def read_in(code: str, path: str = "a.py", named: tuple[str, ...] = ()) -> set[str] | None:
    """The functions and classes whose statements are read; None where there is no body."""
    facts = extract_python(decode(code.encode(), path), named=named)
    assert facts is not None
    if not facts.bodies:
        return None
    inner = [body for body in bodies_below(facts.bodies[0]) if body.kind is not BodyKind.MODULE]
    assert all(not body.statements and not body.inner for body in inner if not body.is_read)
    return {body.name for body in inner if body.is_read}


def test_stubs_have_no_bodies() -> None:
    assert read_in("import torch\n" + GUARDED, "a.pyi") is None


def test_functions_and_classes_are_read_when_they_are_asked_for() -> None:
    code = "class A:\n    def f(self): 1\ndef g(): h()\ndef h(): 1\ndef i(): 1\n"
    assert read_in(code, named=("j",)) is None
    assert read_in(code, named=("A",)) == {"A", "f"}
    assert read_in(code, named=("h",)) == {"g", "h"}


def test_of_a_long_file_the_nearest_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "".join(f"def f{index}(): f{index + 1}()\n" for index in range(50))
    code = f"import torch\n{chain}def f50():\n    with torch.inference_mode(): f51()\ndef f51(): f52()\ndef f52(): 1\n"
    monkeypatch.setattr(python_reach, "MOST_TEXT", 45)
    assert read_in(code) == {"f48", "f49", "f50", "f51"}


@pytest.mark.parametrize("least", [0, 1 << 20])
def test_what_was_left_out_before_parsing_is_read_where_it_is_reached(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_body_pruning, "FOCUS_FROM", least)
    code = (
        "import torch\n\nclass A:\n    def f(self):\n        return g(1)\n\n    @property\n    def i(self):\n"
        "        return 1\n\n    def j(self):\n        with torch.no_grad(): yield 1\n\ndef g(x):\n    return x\n\n"
        "def h(y):\n    return 'ä'\n"
    )
    facts = extract_python(decode(code.encode(), "a.py"))
    assert facts is not None
    assert str(facts.bodies[0]).splitlines() == [
        "module:",
        "    import torch as torch",
        "    class A():",
        "        def f(self):",
        "            return g(1)",
        "        @property",
        "        def i(self):",
        "            return 1",
        "        def generator j(self):",
        "            with torch.no_grad():",
        "                yield 1",
        "    def g(x):",
        "        return x",
        "    def h():",
        "        ...",
    ]


# -- bounds

LONG = {
    "elif": "if a0: b\n" + "".join(f"elif a{index}: b\n" for index in range(2000)),
    "cases": "match x:\n" + "".join(f"    case {index}: a\n" for index in range(2000)),
    "else if": "".join(" " * index + f"if a{index}: b\n" + " " * index + "else:\n" for index in range(95))
    + " " * 95
    + "c",
    "statements": "x = f(1)\n" * 20_000,
    "functions": "def f(): 1\n" * 8_000,
    "functions in functions": "".join(" " * index + f"def f{index}():\n" for index in range(95)) + " " * 95 + "c",
    "classes in classes": "".join(" " * index + f"class A{index}:\n" for index in range(95)) + " " * 95 + "c",
    "lambdas in lambdas": "x = " + "lambda: " * 90 + "1",
    "lambdas in calls in lambdas": "x = " + "lambda: [f(" * 60 + "1" + ")]" * 60,
    "operands": "x = " + " + ".join(["a"] * 900),
    "attributes": "x = a" + ".b" * 900,
    "attributes of a call": "x = a()" + ".b" * 900,
    "calls": "x = a" + ".b()" * 400,
    "not": "if " + "not " * 2000 + "a: b",
    "arguments": "f(" + "x, " * 5000 + ")",
    "pairs": "x = {" + "1: 2, " * 5000 + "}",
    "pairs in pairs": "x = " + "{1: " * 90 + "2" + "}" * 90,
    "comparisons": "x = " + " < ".join(["a"] * 900),
    "targets": " = ".join(["a"] * 2000) + " = 1",
    "patterns": "match x:\n    case " + "[" * 90 + "a" + "]" * 90 + ": b",
    "comprehensions": "x = " + "[a for a in " * 90 + "b" + "]" * 90,
}


@pytest.mark.parametrize("code", LONG.values(), ids=LONG.keys())
def test_long_and_deep_code_is_bounded(code: str) -> None:
    body = body_of(code)
    assert str(body)
    for inner in bodies_below(body):
        statements = [part for part in parts_of(inner) if isinstance(part, StatementNode)]
        assert len(statements) <= python_statements.MAX_STATEMENTS + 1


LEFT_OUT = ["elif", "cases", "statements", "functions", "functions in functions", "classes in classes"]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_lies_beyond_the_bounds_is_said_to_be_missing(name: str) -> None:
    assert not all(body.is_read for body in bodies_below(body_of(LONG[name])))


@pytest.mark.parametrize("name", sorted({*LONG} - {*LEFT_OUT}))
def test_all_else_is_there(name: str) -> None:
    assert all(body.is_read for body in bodies_below(body_of(LONG[name])))


LIBRARY = Path(sysconfig.get_paths()["stdlib"])


@pytest.mark.parametrize("folder", ["asyncio", pytest.param("", marks=pytest.mark.thorough)])
def test_the_standard_library_is_read(folder: str) -> None:
    paths = [path for path in sorted((LIBRARY / folder).rglob("*.py")) if "site-packages" not in path.parts]
    assert len(paths) > 20
    for path in paths:
        try:
            text = decode(path.read_bytes(), str(path)).text.decode()
        except Unreadable:
            continue
        if parse_python(text) is not None:
            assert str(body_of(text))
