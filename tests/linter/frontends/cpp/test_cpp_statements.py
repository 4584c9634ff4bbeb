"""Code of C++ -> statements: what each construct becomes, which functions are read, and that nothing breaks it."""

from __future__ import annotations

import textwrap

import pytest

from fixture_files import all_fixtures
from guardfix.linter.facts import Facts
from guardfix.linter.facts.bodies import AnyStatement, Assign, Body, BodyKind, If, Loop
from guardfix.linter.facts.packing import pack, unpack
from guardfix.linter.files.sources import decode
from guardfix.linter.frontends.cpp.cpp_extraction import extract_cpp
from guardfix.linter.frontends.cpp.cpp_statements import MOST_NESTED, MOST_STATEMENTS


def bodies_of(text: str) -> tuple[Body, ...]:
    facts = extract_cpp(decode(text.encode(), "a.cpp"))
    assert unpack(Facts, pack(facts)).bodies == facts.bodies
    return facts.bodies


def function_of(code: str, before: str = "") -> Body:
    """A function with a guard and this code."""
    text = f"{before}void run() {{\nat::NoGradGuard guard;\n{code}\n}}\n"
    (found,) = [body for body in bodies_of(text) if body.name == "run" and body.kind is BodyKind.FUNCTION]
    return found


def printed(body: Body) -> str:
    """The statements behind the guard."""
    first, guard, *rest = str(body).splitlines()
    assert (first, guard) == ("def run() -> void:", "    declare guard: at::NoGradGuard")
    return textwrap.dedent("\n".join(rest))


BECOMES = {
    "a declaration": ("Tensor a;", "declare a: Tensor"),
    "with a value": ("const auto& a = x;", "declare a: const auto& = x"),
    "with arguments": ("Tensor a(x, 1);", "declare a: Tensor = (x, 1)"),
    "in braces": ("Tensor a{x};", "declare a: Tensor = {x}"),
    "several": (
        "int a = 1, *b = nullptr, c[2] = {1, 2};",
        "declare a: int = 1\ndeclare b: int* = nullptr\ndeclare c: int = {1, 2}",
    ),
    "bindings": ("auto [a, b] = f();", "declare [a, b]: auto = f()"),
    "tie": ("std::tie(a, b) = f();", "(a, b) = f()"),
    "read as a function": ("Tensor a(x * y);", "declare a: Tensor = (x * y)"),
    "in a case too": ("switch (n) { case 1: Tensor a(y); }", "if n == 1:\n    declare a: Tensor = (y)"),
    "without braces": ("if (x) at::NoGradGuard a;", "if x:\n    declare a: at::NoGradGuard"),
    "a function": ("at::NoGradGuard a(); int b(int c); extern int d;", ""),
    "a type with a keyword": ("struct Net a;", "declare a: Net"),
    "assignment": ("a = b[0] = x;", "a = b[0] = x"),
    "changing": ("a += x;", "a += x"),
    "in an expression": ("f(a = x);", "f(a = x)"),
    "counting": ("a++;", "a++"),
    "comma": ("a = 1, f();", "a = 1\nf()"),
    "a macro": ("LAUNCH;", "LAUNCH()"),
    "delete": ("delete p; delete[] q;", "del p\ndel q"),
    "if": ("if (x) f(); else if (y) { g(); } else h();", "if x:\n    f()\nelif y:\n    g()\nelse:\n    h()"),
    "if constexpr": ("if constexpr (N > 1) f();", "if N > 1:\n    f()"),
    "if with a declaration": (
        "if (auto a = f()) g(a);",
        "block:\n    declare a: auto = f()\n    if a:\n        g(a)",
    ),
    "if with an initialiser": (
        "if (at::NoGradGuard a; x) f();",
        "block:\n    declare a: at::NoGradGuard\n    if x:\n        f()",
    ),
    "an attribute": ("if (x) [[likely]] f();", "if x:\n    f()"),
    "switch": (
        "switch (n) { case 1: f(); break; case 2: case 3: g(); return; default: h(); }",
        "if n == 1:\n    f()\nelif n == 2 || n == 3:\n    g()\n    return\nelse:\n    h()",
    ),
    "falling through": (
        "switch (n) { case 1: f(); default: { g(); break; } case 2: h(); }",
        "if n == 1:\n    f()\n    block:\n        g()\nelif n == 2:\n    h()\nelse:\n    block:\n        g()",
    ),
    "breaking a switch": (
        "switch (n) { case 1: if (x) break; f(); }",
        "once while false:\n    if n == 1:\n        if x:\n            break\n        f()",
    ),
    "case below a condition": (
        "switch (n) {\ncase 1: f(); break;\n#ifdef A\ncase 2: g(); break;\n#endif\n}",
        "if n == 1:\n    f()\nelif n == 2:\n    g()",
    ),
    "for": ("for (int i = 0; i < 3; ++i) f(i);", "declare i: int = 0\nwhile i < 3:\n    f(i)\n    ++i"),
    "a guard for a loop": (
        "for (at::NoGradGuard a; x;) f();",
        "block:\n    declare a: at::NoGradGuard\n    while x:\n        f()",
    ),
    "for ever": ("for (;;) { break; }", "while True:\n    break"),
    "range": ("for (auto& [k, v] : m) f(v);", "for [k, v] in m:\n    f(v)"),
    "while": ("while (x) continue;", "while x:\n    continue"),
    "while true": ("while (true) f();", "while True:\n    f()"),
    "while with a declaration": (
        "while (auto a = f()) g(a);",
        "while True:\n    declare a: auto = f()\n    if !a:\n        break\n    g(a)",
    ),
    "do": ("do { f(); } while (x);", "once while x:\n    f()"),
    "braces": ("{ at::NoGradGuard a; f(); }", "block:\n    declare a: at::NoGradGuard\n    f()"),
    "try": (
        "try { f(); } catch (const c10::Error& e) { throw; } catch (...) { throw E(1); }",
        "try:\n    f()\nexcept const c10::Error& as e:\n    raise\nexcept:\n    raise E(1)",
    ),
    "return": ("return f(x);", "return f(x)"),
    "a lambda that is called": ("[&x] { f(x); }();", "[&x]{f(x);}()\n#0 lambda [&x]():\n    f(x)"),
    "a lambda that is kept": (
        "auto f = [=, this, y = g(1, 2)](Tensor x) -> Tensor { return x; };",
        "declare f: auto = [=,this,y=g(1,2)](Tensor x)->Tensor{return x;}\n"
        "#0 lambda [=, this, y=g(1,2)](x: Tensor) -> Tensor:\n    return x",
    ),
    "a dispatched lambda": (
        'AT_DISPATCH_ALL_TYPES(x.type(), "f", [&] { f<scalar_t>(x); });',
        'AT_DISPATCH_ALL_TYPES(x.type(), "f", [&]{f<scalar_t>(x);})\n#0 lambda [&]():\n    f<scalar_t>(x)',
    ),
    "a check": ('TORCH_CHECK(x && y, "no");', 'if !(x && y):\n    raise TORCH_CHECK(x && y, "no")'),
    "a check that fails": ('TORCH_CHECK(false, "no");', 'raise TORCH_CHECK(false, "no")'),
    "a comparing check": ("TORCH_CHECK_EQ(x, 1);", "if !(x == 1):\n    raise TORCH_CHECK_EQ(x, 1)"),
    "assert": ("assert(x);", "if !x:\n    raise assert(x)"),
    "a test's assertion": ("ASSERT_TRUE(x);", "if !x:\n    return"),
    "never returning": ("std::abort();", "raise std::abort()"),
    "a method of that name": ("loop.exit();", "loop.exit()"),
    "fatal": ('LOG(FATAL) << "no";', 'raise LOG(FATAL) << "no"'),
    "an expected exception": ("EXPECT_THROW(f(x), E);", "try:\n    f(x)\nexcept:\n    pass"),
    "one of a block": (
        "ASSERT_ANY_THROW({ f(); g(); });",
        "try:\n    block:\n        f()\n        g()\nexcept:\n    pass",
    ),
    "none expected": ("EXPECT_NO_THROW(f());", "f()"),
    "arms": (
        "#ifdef A\nf();\n#elif B > 1\ng();\n#else\nh();\n#endif",
        "if #if defined(A):\n    f()\nelif #if B>1:\n    g()\nelse:\n    h()",
    ),
    "a dead arm": ("#if 0\nf();\n#else\ng();\n#endif", "g()"),
    "a live arm": ("#if 1\nf();\n#else\ng();\n#endif", "f()"),
    "parallel": (
        "#pragma omp parallel for\nfor (auto x : xs) f(x);\ng();",
        "parallel block:\n    for x in xs:\n        f(x)\ng()",
    ),
    "coroutine's await": ("auto x = g(co_await f());", "declare x: auto = g(await f())"),
    "a label": ("if (x) goto end; f(); end: g();", "if x:\n    goto\nf()\ng()"),
    "unreadable": ("f(); @@; g();", "f()\n@@\ng()"),
    "a local class": (
        "struct L : Base { Tensor x = f(), y; }; L a;",
        "class L(Base): x: Tensor = f(); y: Tensor;\ndeclare a: L",
    ),
}
NOT_READ = {"a label", "unreadable"}
COROUTINES = {"coroutine's await"}


@pytest.mark.parametrize("case", BECOMES)
def test_what_statements_become(case: str) -> None:
    code, expected = BECOMES[case]
    body = function_of(code)
    assert body.is_read is (case not in NOT_READ)
    assert body.is_async is (case in COROUTINES)
    shown = str(body).replace("    ...\n", "", 1).removeprefix("async ")
    head = "def run() -> void:\n    declare guard: at::NoGradGuard"
    assert shown.startswith(head)
    assert textwrap.dedent(shown[len(head) :]).strip("\n") == expected


MACROS = """\
#define NO_GRAD at::NoGradGuard no_grad
#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x)
#define CHECK(x) CHECK_CUDA(x); TORCH_CHECK(x.is_contiguous())
#define LEAVE_IF(c) do { if (c) return; } while (0)
#define WITH(x) [&] { NO_GRAD; use(x); }()
#define NOTE(x) note(x)
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("NO_GRAD;", "declare no_grad: at::NoGradGuard", id="a guard"),
        pytest.param(
            "CHECK(x);",
            'if !x.is_cuda():\n    raise TORCH_CHECK(x.is_cuda(), "x")\n'
            "if !x.is_contiguous():\n    raise TORCH_CHECK(x.is_contiguous())",
            id="macros in macros",
        ),
        pytest.param("LEAVE_IF(x);", "once while 0:\n    if x:\n        return", id="one that leaves"),
        pytest.param(
            "WITH(x);",
            "[&]{at::NoGradGuard no_grad; use(x);}()\n"
            "#0 lambda [&]():\n    declare no_grad: at::NoGradGuard\n    use(x)",
            id="a lambda",
        ),
        pytest.param("NOTE(x);", "NOTE(x)", id="one without either is a call"),
    ],
)
def test_a_file_s_own_macros_are_expanded(code: str, expected: str) -> None:
    body = function_of(code, before=MACROS)
    assert printed(body) == expected
    start = len(MACROS) + len("void run() {\nat::NoGradGuard guard;\n")
    assert all(start <= statement.span.start < start + len(code) for statement in body.statements[1:])


def test_places_are_those_of_headers() -> None:
    text = "void run() {\n  at::NoGradGuard g;\n  if (x > 1) {\n    f();\n  }\n  while (y)\n    g();\n}\n"
    (body,) = bodies_of(text)
    assert text[slice(*body.span)] == text.rstrip()
    shown = [text[slice(*statement.span)] for statement in body.statements]
    assert text[slice(*body.header)] == "void run()"
    assert shown == ["at::NoGradGuard g;", "if (x > 1)", "while (y)"]


NET = """\
namespace ns {
class Net : public Base<int> {
 public:
  Net(int n) : Base<int>(n), net_(load(n)), guard_{true} {}
  Tensor run(const Tensor& x, int n = 3, Options o = {}) const { return net_.forward(x); }
  static void stop() {}
  void hold();
 private:
  Tensor w = zeros({3}), *v{nullptr};
  std::function<void()> callback = [] { f(); };
  c10::InferenceMode guard_;
};
void Net::hold() { w = f(); }
}
"""


def test_a_class_with_a_guard() -> None:
    shown = "\n".join(map(str, bodies_of(NET)))
    assert (
        shown
        == """\
class Net(Base<int>): w: Tensor = zeros({3}); v: Tensor* = {nullptr}; \
callback: std::function<void()> = []{f();}; guard_: c10::InferenceMode;
    #0 lambda ():
        f()
def Net(n: int):
    this->Base<int> = (n)
    this->net_ = (load(n))
    this->guard_ = {true}
def run(x: const Tensor&, n: int = 3, o: Options = {}) -> Tensor:
    return net_.forward(x)
static def stop() -> void:
def hold() -> void:
    w = f()"""
    )
    assert [body.qualified for body in bodies_of(NET)] == [
        ("ns", "Net"),
        *(("ns", "Net", name) for name in ("Net", "run", "stop", "hold")),
    ]


def test_bodies_know_their_functions() -> None:
    text = "void run() { at::NoGradGuard g; auto l = [] { f(); }; struct L { void m() { f(); } }; }\n"
    facts = extract_cpp(decode(text.encode(), "a.cpp"))
    run, method = facts.bodies
    (anonymous, local) = run.inner
    assert [(body.kind, body.qualified, body.function) for body in (run, anonymous, local, method)] == [
        (BodyKind.FUNCTION, ("run",), 0),
        (BodyKind.LAMBDA, ("run",), 1),
        (BodyKind.CLASS, ("run", "L"), None),
        (BodyKind.FUNCTION, ("run", "L", "m"), 2),
    ]
    for body in (run, anonymous, method):
        assert body.function is not None
        assert facts.functions[body.function].span == body.span


GUARDED = "Tensor guarded(Tensor x) { at::NoGradGuard g; helper(x); return x; }\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("void other() { f(); }\n" + GUARDED, ["guarded"], id="not what has nothing to do with it"),
        pytest.param("void helper(Tensor x) { deeper(x); }\nvoid deeper(Tensor x) {}\n" + GUARDED,
                     ["helper", "deeper", "guarded"], id="what it calls"),
        pytest.param(GUARDED + "void caller() { guarded(x); }\nvoid outer() { caller(); loss(); }\nvoid loss() {}\n",
                     ["guarded", "caller", "outer", "loss"], id="what calls it, and what that calls"),
        pytest.param(GUARDED + "void helper(Tensor x) {}\nvoid other() { helper(y); }\n",
                     ["guarded", "helper"], id="not what calls the same helper"),
        pytest.param(GUARDED + 'TORCH_LIBRARY(l, m) { m.def("a", &guarded); m.def("b", &b); }\nvoid b() {}\n',
                     ["guarded"], id="not what is registered beside it"),
        pytest.param("TEST(A, b) { at::NoGradGuard g; }\nTEST(A, c) {}\n", ["TEST"], id="not tests of one name"),
        pytest.param("struct S { Tensor a() { at::NoGradGuard g; return x; } void b() {} Tensor x; };\nvoid S::c() {}\n",
                     ["S", "a", "b", "c"], id="methods beside it"),
        pytest.param("struct S { at::NoGradGuard g; };\nvoid use() { S s; f(); }\nvoid other() {}\n",
                     ["S", "use"], id="what makes a class that holds one"),
        pytest.param("#define G at::NoGradGuard g\nvoid use() { G; f(); }\nvoid other() {}\n",
                     ["use"], id="what makes one by a macro"),
        pytest.param("struct S { Tensor x; S() {} void m() {} };\n" + GUARDED.replace("helper(x)", "S s"),
                     ["S", "S", "m", "guarded"], id="a class that it makes"),
        pytest.param("auto f = [](int n) { return n; };\nvoid run() { at::NoGradGuard g; f(1); }\n",
                     ["run", ""], id="a lambda of the module"),
        pytest.param("auto f = [](int n) { at::NoGradGuard g; return n; };\nvoid run() { f(1); }\nvoid other() {}\n",
                     ["run", ""], id="what calls a lambda of the module"),
    ],
)  # fmt: skip
def test_what_a_guard_reaches(text: str, names: list[str]) -> None:
    assert [body.name for body in bodies_of(text)] == names


def test_globals_that_are_named() -> None:
    text = "static Tensor used = ones(3);\nTensor other = ones(4);\nvoid run() { at::NoGradGuard g; f(used); }\n"
    *_, module = bodies_of(text)
    assert str(module) == "module:\n    declare used: Tensor = ones(3)"


def test_globals_that_are_guards() -> None:
    (module,) = bodies_of("at::NoGradGuard g;\nTensor other = ones(4);\n")
    assert str(module) == "module:\n    declare g: at::NoGradGuard"


def test_functions_that_are_asked_for() -> None:
    source = decode(b"void asked() { f(); }\nvoid f() {}\n", "a.cpp")
    facts = extract_cpp(source, named=frozenset({"asked"}))
    assert [body.name for body in facts.bodies] == ["asked"]


def test_a_file_without_guards_has_no_bodies() -> None:
    assert bodies_of("// at::NoGradGuard\nvoid f() { g(); }\n") == ()


# -- bounds


def _chain(statements: tuple[AnyStatement, ...]) -> int:
    """How many branches the last statement's chain has."""
    count, last = 0, statements[-1:]
    while last and isinstance(last[0], If):
        count, last = count + 1, last[0].otherwise
    return count


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("if (a) f();" + " else if (b) f();" * 3000, id="else if"),
        pytest.param("switch (n) {" + "case 1: f(); break;" * 3000 + "}", id="cases"),
        pytest.param("switch (n) {" + "case 1: f();" * 3000 + "}", id="cases that fall through"),
        pytest.param("#if A\nf();\n" + "#elif B\nf();\n" * 500 + "#endif", id="arms"),
    ],
)
def test_long_chains_are_cut(code: str) -> None:
    body = function_of(code)
    assert not body.is_read
    assert _chain(body.statements) <= MOST_NESTED + 1


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        pytest.param("{", "}", id="braces"),
        pytest.param("if (a) {", "}", id="ifs"),
        pytest.param("for (;;) ", "", id="loops"),
        pytest.param("try {", "} catch (...) {}", id="exceptions"),
        pytest.param("auto l = [&] {", "};", id="lambdas"),
        pytest.param("call([&] {", "});", id="lambdas that are handed on"),
        pytest.param("struct S { void m() {", "} };", id="classes"),
        pytest.param("#if A\n", "\n#endif\n", id="conditions"),
        pytest.param("switch (a) { case 1: ", "}", id="switches"),
    ],
)
def test_deep_code_is_cut(opening: str, closing: str) -> None:
    text = f"void run() {{ at::NoGradGuard g; {opening * 800} f(); {closing * 800} }}"
    facts = extract_cpp(decode(text.encode(), "a.cpp"))
    assert unpack(Facts, pack(facts)).bodies == facts.bodies
    waiting = list(facts.bodies)
    for body in waiting:
        waiting += body.inner
    assert len(waiting) > MOST_NESTED or not all(body.is_read for body in waiting)


def test_long_functions_are_cut() -> None:
    body = function_of("f();\n" * (MOST_STATEMENTS + 100))
    assert not body.is_read
    assert len(body.statements) == MOST_STATEMENTS


def test_conditions_of_one_text_are_one_value() -> None:
    body = function_of("#if A\nf();\n#endif\ng();\n#if A\nh();\n#endif")
    first, second = (one for one in body.statements if isinstance(one, If))
    assert first.condition == second.condition


def test_every_fixture_is_read() -> None:
    for fixture in all_fixtures():
        if fixture.path.suffix in (".cpp", ".h", ".cu", ".mm"):
            facts = extract_cpp(decode(fixture.path.read_bytes(), str(fixture.path)))
            assert unpack(Facts, pack(facts)).bodies == facts.bodies
            functions = {use.function for use in facts.guard_uses if use.macro is None} - {None}
            outermost = {facts.enclosing(index)[-1].span for index in functions}
            assert outermost <= {body.span for body in facts.bodies}, fixture.path


def test_a_loop_s_parts_are_kept_apart() -> None:
    declared, loop = function_of("for (int i = 0; i < 3; ++i) {}").statements[1:]
    assert isinstance(declared, Assign)
    assert isinstance(loop, Loop)
    assert (loop.target, loop.iterable, loop.runs_once) == (None, None, False)
