"""What is read off the text before or beside the tree: masks, registrations, conditions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardfix.linter.facts.version_conditions import TORCH_2, evaluate, taken_branch
from guardfix.linter.frontends.cpp.conditionals import find_conditionals
from guardfix.linter.frontends.cpp.cpp_masking import code_only, mask_macros, with_plain_lines
from guardfix.linter.frontends.cpp.cpp_parsing import masked_text, parse_cpp
from guardfix.linter.frontends.cpp.objective_c import mask_objective_c
from guardfix.linter.frontends.cpp.op_registrations import find_registrations


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("class TORCH_API Foo : public Bar { int x; };", id="API macro"),
        pytest.param("struct MY_LIB_EXPORT Foo final { int x; };", id="a project's own export macro"),
        pytest.param("C10_EXPORT void f();", id="export before a function"),
        pytest.param(
            "PyObject* f() {\n  HANDLE_TH_ERRORS\n  return g();\n  END_HANDLE_TH_ERRORS\n}", id="error macros"
        ),
        pytest.param('void f() {\n  AT_DISPATCH_ALL_TYPES(t, "f", [&] { g(); })\n}', id="dispatch without semicolon"),
        pytest.param("JNIEXPORT void JNICALL Java_f(JNIEnv* env) { g(); }", id="JNI"),
        pytest.param("C10_UNUSED static int x = 1;", id="attribute"),
        pytest.param("#define X(a) f(a); /* c */ \\\n  g(a)\nint y;", id="comment in a macro's body"),
    ],
)
def test_macros_are_masked_so_that_the_file_parses(text: str) -> None:
    masked = mask_macros(text.encode())
    assert len(masked) == len(text)
    assert not parse_cpp(masked).root_node.has_error


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("@interface A : NSObject\n- (void)f;\n@property(nonatomic) int x;\n@end\nint y;", id="interface"),
        pytest.param("@interface A : NSObject {\n @protected\n  torch::jit::Module m_;\n}\n@end", id="C++ ivars"),
        pytest.param("@implementation A\n- (int)f:(int)a g:(int)b {\n  return a;\n}\n@end", id="method"),
        pytest.param("@implementation A\n+ (nullable A*)make {\n  return [[A alloc] init];\n}\n@end", id="class method"),
        pytest.param("void f() { [a b]; [a b:1 c:2]; [[a b] c:[d e:f(1)]]; }", id="messages"),
        pytest.param("void f() { if (x) return [a b:c ? d : e]; }", id="a conditional in an argument"),
        pytest.param("void f() { auto s = @\"text\"; g(@[ @1, @2 ], @{ @\"k\" : @3 }, @(4)); }", id="literals"),
        pytest.param("void f() { @autoreleasepool { g(); } @try { h(); } @catch (NSException* e) { } }", id="pools"),
        pytest.param("void f() { [q run:^{ g(); }]; [q map:^(int x) { h(x); }]; }", id="blocks"),
        pytest.param("void f() { for (NSString* s in list) { g(s); } }", id="for in"),
        pytest.param("void f() { SEL s = @selector(a:b:); NSArray<NSString*>* l = [NSArray<NSString*> new]; }", id="generics"),
        pytest.param("void f() { int a[3]; a[0] = b[i]; auto l = [=](int x) { return x; }; [[maybe_unused]] int y; }", id="plain C++"),
    ],
)  # fmt: skip
def test_objective_c_is_masked_so_that_the_file_parses(text: str) -> None:
    masked = mask_objective_c(text.encode())
    assert len(masked) == len(text)
    assert masked.count(b"\n") == text.count("\n")
    assert not parse_cpp(masked).root_node.has_error, masked.decode()


def test_plain_cpp_is_left_alone_by_the_objective_c_mask() -> None:
    text = b"void f() { a[0] = b[i]; auto l = [=, &x](int y) { return x[y]; }; std::map<int, int> m{{1, 2}}; }"
    assert mask_objective_c(text) == text


@given(st.text(alphabet="[]{}()@^:;,.\"'/*\\\n -+abcN_<>#?=&", max_size=200))
def test_masks_never_fail_and_keep_every_offset(text: str) -> None:
    data = text.encode()
    for path in ("a.mm", "a.cpp"):
        masked = masked_text(path, data)
        assert len(masked) == len(data)
        assert [i for i, c in enumerate(masked) if c == 10] == [i for i, c in enumerate(data) if c == 10]
    assert len(code_only(data)) == len(data)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param(b"a\rb\r", b"a\nb\n", id="old Mac"),
        pytest.param(b"a\r\nb\rc\n", b"a\r\nb\nc\n", id="mixed"),
        pytest.param(b"a\r\r\nb", b"a\n\r\nb", id="converted twice"),
        pytest.param(b"a\r\nb\n", b"a\r\nb\n", id="no lone CR"),
        (b"%:if 0\n  %:define A %:b\nint c %: 2;", b"# if 0\n  # define A %:b\nint c %: 2;"),
    ],
)
def test_lines_as_the_grammar_knows_them(text: bytes, read: bytes) -> None:
    assert with_plain_lines(text) == read


REGISTRATIONS = [
    pytest.param('TORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("op", f); }', {("f", "Autograd", "op")}, id="plain"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("op", &a::f); }', {("a::f", "Autograd", "op")}, id="&"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, CPU, m) {\n  m.impl(\n    "op.Tensor",\n    TORCH_FN(a::f));\n}',
                 {("a::f", "CPU", "op.Tensor")}, id="TORCH_FN over lines"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, CPU, m) { m.impl(TORCH_SELECTIVE_NAME("ns::op"), TORCH_FN(f)); }',
                 {("f", "CPU", "ns::op")}, id="selective name"),
    pytest.param('TORCH_LIBRARY(ns, m) { m.def("op(Tensor a) -> Tensor", f); m.def("other() -> ()"); }',
                 {("f", "", "op")}, id="def with and without a function"),
    pytest.param('TORCH_LIBRARY_FRAGMENT(ns, m) { m.impl("op", torch::dispatch(c10::DispatchKey::AutogradCPU, TORCH_FN(f))); }',
                 {("f", "AutogradCPU", "op")}, id="dispatch"),
    pytest.param('TORCH_LIBRARY_FRAGMENT(ns, m) { m.impl("op", c10::DispatchKey::Autograd, f); }',
                 {("f", "Autograd", "op")}, id="key as an argument"),
    pytest.param('TORCH_LIBRARY_FRAGMENT(ns, m) { m.impl("op", torch::dispatch(torch::kAutograd, &f)); }',
                 {("f", "Autograd", "op")}, id="short key"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, CPU, m) { // m.impl("op", f);\n }', set(), id="commented out"),
    pytest.param('TORCH_LIBRARY_IMPL(_, AutogradX, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&f>()); }',
                 {("f", "AutogradX", "")}, id="a boxed fallback"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, CPU, m) { m.impl("op", [](at::Tensor a) { return a; }); }',
                 {("", "CPU", "op")}, id="a lambda"),
    pytest.param('static auto r = c10::RegisterOperators().op("ns::op", c10::RegisterOperators::options()'
                 '.kernel<decltype(f), &f>(c10::DispatchKey::Autograd));', {("f", "Autograd", "ns::op")}, id="old kernel"),
    pytest.param('static auto r = torch::RegisterOperators().op("ns::op(Tensor a) -> Tensor", &f);', {("f", "", "ns::op")}, id="old op"),
    pytest.param('static auto r = torch::RegisterOperators("ns::op", &f);', {("f", "", "ns::op")}, id="oldest"),
    pytest.param('static auto r = torch::RegisterOperators("ns::op", [](at::Tensor a) { return a; });', {("", "", "ns::op")}, id="oldest, a lambda"),
    pytest.param('static auto r = torch::RegisterOperators().op("ns::op", torch::RegisterOperators::options()'
                 '.impl_unboxedOnlyKernel<at::Tensor(at::Tensor), &f>(at::TensorTypeId::CPUTensorId));',
                 {("f", "CPUTensorId", "ns::op")}, id="unboxed kernel"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, CPU, m) { m.impl("a", &f<float, true>); m.impl("b", TORCH_FN((g<std::vector<int>, 2>))); }',
                 {("f", "CPU", "a"), ("g", "CPU", "b")}, id="instances of templates"),
    pytest.param('TORCH_LIBRARY_FRAGMENT(ns, m) { DISPATCH_TO_CUDA("op", f); }', {("f", "CUDA", "op")}, id="a short macro"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, Autograd, m) { m.fallback(torch::CppFunction::makeFallthrough()); }',
                 {("", "Autograd", "")}, id="a fallthrough is not a function"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("op", torch::CppFunction::makeFromBoxedFunctor(std::make_unique<F>())); }',
                 {("F", "Autograd", "op")}, id="a boxed functor"),
    pytest.param('#define REG(op, fn) m.impl(#op, fn)\nTORCH_LIBRARY_IMPL(ns, Autograd, m) { REG(op, a::f); }',
                 {("a::f", "Autograd", "op")}, id="the file's own macro around impl"),
    pytest.param('#define REG(op) m.impl(#op, op##_grad);\n#define OPS(_) _(a) \\\n  _(b)\nTORCH_LIBRARY_IMPL(ns, Autograd, m) { OPS(REG) }',
                 {("a_grad", "Autograd", "a"), ("b_grad", "Autograd", "b")}, id="a list of ops given to a macro"),
    pytest.param('#define REG(k, fn) TORCH_LIBRARY_IMPL(ns, k, m) { m.impl("op", fn); }\nREG(Autograd, f)\nREG(CPU, g)',
                 {("f", "Autograd", "op"), ("g", "CPU", "op")}, id="a macro around the block"),
    pytest.param('#define REG(op, fn) m.impl(#op, fn)\nvoid f() { REG(op, g); }', set(), id="that macro outside of a library"),
    pytest.param('#define A(x) B(x)\n#define B(x) A(x)\nTORCH_LIBRARY_IMPL(ns, CPU, m) { A(f); }', set(), id="macros that name each other"),
    pytest.param('TORCH_LIBRARY_IMPL(ns, Autograd, m) { REGISTER_OP("op", f); CHECK_THAT(x == y, z()); }',
                 {("f", "Autograd", "op")}, id="a macro from elsewhere"),
    pytest.param('void late(torch::Library& lib) { lib.impl("op", c10::DispatchKey::Autograd, f); }', {("f", "Autograd", "op")}, id="a function that is given the library"),
    pytest.param('void late(torch::Library& lib) { lib.impl("op", f); }\nTORCH_LIBRARY_IMPL(ns, Autograd, m) { late(m); }',
                 {("f", "Autograd", "op")}, id="the library of a block is passed on"),
    pytest.param('static auto m = torch::import().impl("op", torch::dispatch(c10::DispatchKey::VariableTensorId, f));',
                 {("f", "VariableTensorId", "op")}, id="import"),
    pytest.param('void init() { auto m = MAKE_TORCH_LIBRARY_IMPL(aten, AutogradXLA); m.impl("op", f).impl("other", g); }',
                 {("f", "AutogradXLA", "op"), ("g", "AutogradXLA", "other")}, id="a library that is a variable"),
    pytest.param('torch::Library m(torch::Library::IMPL, "ns", c10::DispatchKey::Autograd, __FILE__, __LINE__); void f() { pimpl.impl("op", g); }',
                 set(), id="another object's impl"),
    pytest.param('static auto r = c10::RegisterOperators().op("ns::op", c10::RegisterOperators::options().kernel<F>(c10::DispatchKey::VariableTensorId));',
                 {("F", "VariableTensorId", "ns::op")}, id="a functor"),
    pytest.param('static auto r = c10::RegisterOperators().op("ns::op", c10::RegisterOperators::options().catchAllKernel([](at::Tensor x) { f(); return x; }));',
                 {("", "", "ns::op")}, id="a catch-all lambda"),
    pytest.param('TORCH_LIBRARY(ns, m) { m.class_<E>("E").def(torch::init<>()).def("run", &E::run); m.def("op() -> ()", f); }',
                 {("f", "", "op")}, id="methods of a class"),
    pytest.param('TORCH_LIBRARY(ns, m) { auto c = m.class_<E>("E"); c.def("run", &E::run).def("more", [](P e) { f(); }); m.def("op() -> ()", f); }',
                 {("f", "", "op")}, id="methods of a class in a variable"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found"), REGISTRATIONS)
def test_registrations(text: str, found: set[tuple[str, str, str]]) -> None:
    data = text.encode()
    assert {("::".join(r.function), r.key, r.operator) for r in find_registrations(data, code_only(data))} == found


def test_macros_that_double_at_every_level_are_left_alone() -> None:
    lines = [f"#define M{i}(x) M{(i + 1) % 300}(x) M{(i + 2) % 300}(x)" for i in range(300)]
    lines += ["#define M7(x) M8(x) R(x)", "#define R(k) TORCH_LIBRARY_IMPL(ns, k, m) { m.impl(#k, f); }"]
    lines += [*(f"M{i}(CPU)" for i in range(300)), 'TORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("op", g); }']
    data = "\n".join(lines).encode()
    assert ("g", "Autograd", "op") in {
        ("::".join(r.function), r.key, r.operator) for r in find_registrations(data, code_only(data))
    }


CONDITIONS = [
    ("TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 10", False),
    ("TORCH_VERSION_MAJOR >= 2", True),
    ("TORCH_VERSION_MAJOR > 1 || (TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 9)", True),
    ("TORCH_VERSION_MAJOR * 10000 + TORCH_VERSION_MINOR * 100 >= 10900", True),
    ("!(TORCH_VERSION_MAJOR < 2)", True),
    ("TORCH_VERSION_MAJOR != 2", False),
    ("defined(TORCH_VERSION_MAJOR) && TORCH_VERSION_MAJOR >= 2", True),
    ("defined TORCH_VERSION_MAJOR", True),
    ("defined(SOMETHING) && TORCH_VERSION_MAJOR >= 2", None),
    ("defined(SOMETHING) && TORCH_VERSION_MAJOR < 2", False),
    ("defined(SOMETHING) || TORCH_VERSION_MAJOR >= 2", True),
    ("TORCH_VERSION_MAJOR >= 2u", True),
    ("VERSION_AT_LEAST(2, 0)", None),
    ("1 +", None),
    ("0", False),
    ("", None),
    ("-1 < TORCH_VERSION_MAJOR - 1", True),
]


@pytest.mark.parametrize(("condition", "verdict"), CONDITIONS)
def test_what_a_condition_says_to_torch_2(condition: str, verdict: bool | None) -> None:
    assert evaluate(condition, TORCH_2) is verdict


def test_conditionals_with_their_branches() -> None:
    code = (
        b"#if A\na;\n# ifdef B\nb;\n# endif\n#elif TORCH_VERSION_MAJOR >= 2\nc;\n#else\nd;\n#endif\n#ifndef C\n#endif\n"
    )
    inner, outer, last = find_conditionals(code)
    assert [branch.condition for branch in outer.branches] == ["A", "TORCH_VERSION_MAJOR >= 2", ""]
    assert [branch.condition for branch in inner.branches] == ["defined(B)"]
    assert last.branches[0].condition == "!defined(C)"
    assert code[slice(*outer.branches[1].span)].strip() == b"c;"
    assert taken_branch(outer, TORCH_2) is None  # A is not known
