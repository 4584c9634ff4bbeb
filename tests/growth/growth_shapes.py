"""Sources of any size, all in one table (hence over 500 lines): the time for them must grow with their size alone.

They are what generators and large projects write.

Each shape makes, of a number, the texts of its files by name. In a repeated piece `@` stands for the number of the
repetition, `%` for the number after it, and `@@` for an at sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Texts = dict[str, str]
Shape = Callable[[int], Texts]

HEAD = "#include <torch/script.h>\n"
NET = "(torch::jit::Module& m, at::Tensor x)"
GUARD = "at::AutoNonVariableTypeMode g(true);"
RUN = "return m.forward({x}).toTensor();"
USE = f"at::Tensor f@{NET} {{ {GUARD} {RUN} }}\n"
OLD = "import torch\nfrom ext import AutoNonVariableTypeMode\nmodel = torch.jit.load(path).eval()\n"


def numbered(piece: str, numbers: Iterable[int]) -> str:
    def with_number(number: int) -> str:
        signs = {"@@": "@", "@": str(number), "%": str(number + 1)}
        return re.sub("@@|@|%", lambda found: signs[found.group()], piece)

    return "".join(map(with_number, numbers))


def cpp(before: str, piece: str, after: str = "", *, name: str = "a.cpp") -> Shape:
    """One C++ file that repeats `piece`."""
    first, last = numbered(before, [0]), numbered(after, [0])
    return lambda count: {name: HEAD + first + numbered(piece, range(count)) + last}


def python(before: str, piece: str, after: str = "") -> Shape:
    """One Python file that repeats `piece`."""
    return lambda count: {"a.py": before + numbered(piece, range(count)) + after}


def nested(before: str, opening: str, inside: str, closing: str, after: str = "", *, name: str = "a.cpp") -> Shape:
    """One file with `inside` so many levels deep."""

    def texts(depth: int) -> Texts:
        return {name: before + numbered(opening, range(depth)) + inside + numbered(closing, range(depth)) + after}

    return texts


def files(text: str, name: str = "f@.cpp", **more: str) -> Shape:
    """As many files, and those in `more`, whose dots are written as underscores; what has no number in it stands once."""

    def texts(count: int) -> Texts:
        found = {name.replace("@", str(n)).replace("%", str(n + 1)): numbered(text, [n]) for n in range(count)}
        for other, content in more.items():
            found[other.replace("_", ".")] = numbered(content, range(count if "@" in content else 1))
        return found

    return texts


def indented(depth: int, opening: str, inside: str) -> str:
    """Python blocks in each other, as deep as its compiler allows."""
    return "".join(f"{' ' * level}{opening}\n" for level in range(depth)) + " " * depth + inside


CPP: dict[str, Shape] = {
    # As many uses as the number says.
    "functions": cpp("", USE),
    "functions with comments at their guards": cpp(
        "", f"at::Tensor f@{NET} {{ at:: // a@\n AutoNonVariableTypeMode /* b@ */ g(/* c@ */ true); // d@\n {RUN} }}\n"
    ),
    "guards with comments that go": cpp(
        f"at::Tensor f{NET} {{ c10::InferenceMode o;\n", "{ torch:: // a@\n NoGradGuard g@; // b@\n x = x * 2; }\n", f"{RUN} }}\n"
    ),
    "guards without a name": cpp("struct S {\n", "torch::AutoNonVariableTypeMode {true};\n", "};\n"),
    "functions in one line": cpp("", USE.replace("\n", " ")),
    "methods of one class": cpp("struct Net {\n", USE, "};\n"),
    "overloads that call each other": cpp("", f"at::Tensor k(at::Tensor x, T@ y) {{ {GUARD} return k(x, y); }}\n"),
    "aliases in namespaces": cpp("", f"namespace n@ {{ using G = at::AutoNonVariableTypeMode; at::Tensor f{NET} {{ G g(true); {RUN} }} }}\n"),
    "views of views below one guard": cpp(f"void f(at::Tensor x0) {{ {GUARD}\n", "auto x% = x@.view(-1); x%.add_(1);\n", "}\n"),
    "methods of one name": cpp("", f"struct Net@ {{ at::Tensor run(at::Tensor x) {{ {GUARD} {RUN} }} }};\n"),
    "overloads of one name": cpp("", f"at::Tensor run(T@ m, at::Tensor x) {{ {GUARD} {RUN} }}\n"),
    "templates": cpp("", f"template <class M, int N> at::Tensor f@(M& m, at::Tensor x) {{ {GUARD} {RUN} }}\n"),
    "autograd functions": cpp(
        "",
        "struct F@ : torch::autograd::Function<F@> { static at::Tensor forward("
        f"torch::autograd::AutogradContext* ctx, at::Tensor x) {{ {GUARD} return at::relu(x); }} }};\n",
    ),
    "derived classes": cpp(
        f"struct B0 {{ virtual at::Tensor f{NET} {{ {GUARD} {RUN} }} }};\n",
        f"struct B% : B@ {{ at::Tensor f{NET} override {{ {GUARD} {RUN} }} }};\n",
    ),
    "guards in one scope": cpp(f"void f{NET} {{\n", "  at::AutoNonVariableTypeMode g@(true);\n", "  m.forward(x);\n}\n"),
    "guards and calls in one scope": cpp(
        f"void f{NET} {{\n", "  at::AutoNonVariableTypeMode g@(true);\n  x = m.forward({x}).toTensor();\n", "}\n"
    ),
    "guards of one name in blocks": cpp(
        f"void f{NET} {{\n", f"  {{ {GUARD} x = m.forward({{x}}).toTensor(); }}\n", "}\n"
    ),
    "other guards in one scope": cpp(f"void f{NET} {{\n", "  at::NoGradGuard g@; x = x + 1;\n", "}\n"),
    "InferenceMode in blocks of one function": cpp(
        "void f(at::Tensor x) {\n  at::Tensor y = x;\n",
        "  { c10::InferenceMode guard; y = torch::relu(x); }\n  y = y.clone();\n",
        "}\n",
    ),
    "InferenceMode in branches of one function": cpp(
        "void f(at::Tensor x) {\n  at::Tensor y = x;\n",
        "  if (y.numel() > @) { c10::InferenceMode guard; y = torch::relu(x); }\n",
        "}\n",
    ),
    "InferenceMode and escapes": cpp(
        "struct S { at::Tensor kept@; };\n", "at::Tensor f@(S& s, at::Tensor x) { c10::InferenceMode guard; auto y = x * 2; s.kept@ = y; return y; }\n"
    ),
    "InferenceMode in branches and statements behind": cpp(
        "void f(at::Tensor x) {\n  at::Tensor y = x;\n",
        "  if (y.numel() > @) { c10::InferenceMode guard; y = torch::relu(x); }\n  y = y + @;\n",
        "}\n",
    ),
    "changes below InferenceMode": cpp(
        "", "void f@(at::Tensor x) { at::Tensor y; { c10::InferenceMode g; y = torch::relu(x); } y.add_(1); }\n"
    ),
    "backward under InferenceMode": cpp("", "void f@(at::Tensor x) { c10::InferenceMode g; auto y = x * 2; y.backward(); }\n"),
    "one member that all methods give a value": cpp(
        "struct Net {\nat::Tensor kept;\n", f"at::Tensor f@{NET} {{ {GUARD} kept = m.forward({{x}}).toTensor(); return kept; }}\n", "};\n"
    ),
    "one member that all methods change": cpp(
        "struct Net {\nat::Tensor kept;\n", f"void f@{NET} {{ {GUARD} kept = m.forward({{x}}).toTensor(); kept.add_(1); }}\n", "};\n"
    ),
    "guards of one name in one scope": cpp(f"void f{NET} {{\n", f"  {GUARD} m.forward({{x}});\n", "}\n"),
    "namespace scope": cpp("", "at::AutoNonVariableTypeMode guard@(true);\n"),
    "heap": cpp("", f"at::Tensor f@{NET} {{ auto g = new at::AutoNonVariableTypeMode(true); {RUN} }}\n"),
    "temporaries": cpp("", f"at::Tensor f@{NET} {{ at::AutoNonVariableTypeMode(true); {RUN} }}\n"),
    "optional guards": cpp("", f"at::Tensor f@{NET} {{ std::optional<at::AutoNonVariableTypeMode> g(true); {RUN} }}\n"),
    "members": cpp("", "struct S@ { at::AutoNonVariableTypeMode guard{true}; at::Tensor x; };\n"),
    "members of one class": cpp("struct S {\n", "at::AutoNonVariableTypeMode guard@{true};\n", "};\n"),
    "old and other guards in one scope": cpp(
        f"void f{NET} {{\n", "  at::AutoNonVariableTypeMode g@(true);\n  at::NoGradGuard h@;\n", "  m.forward({x});\n}\n"
    ),
    "classes derived from guards": cpp("", "struct D@ : at::AutoNonVariableTypeMode { int x; };\n"),
    "members and their initializers": cpp("", "struct S@ { S@() : guard_@(true) {} at::AutoNonVariableTypeMode guard_@; };\n"),
    "members of one name and their initializers": cpp(
        "", "struct S@ { S@() : guard_(true) {} at::AutoNonVariableTypeMode guard_; };\n"
    ),
    "members of one class and their initializers": lambda count: {
        "a.cpp": HEAD + "struct S {\nS() : a(0)" + numbered(", guard@(true)", range(count)) + " {}\nint a;\n"
        + numbered("at::AutoNonVariableTypeMode guard@;\n", range(count)) + "};\n"
    },
    "members that methods use": lambda count: {
        "a.cpp": HEAD + "struct S {\n" + numbered("torch::jit::Module m@;\n", range(count))
        + numbered(f"at::Tensor f@(at::Tensor x) {{ {GUARD} return m@.forward({{x}}).toTensor(); }}\n", range(count)) + "};\n"
    },
    "classes and methods defined outside": cpp(
        "", f"struct S@ {{ at::Tensor run(at::Tensor x); torch::jit::Module m; }};\nat::Tensor S@::run(at::Tensor x) {{ {GUARD} return m.forward({{x}}).toTensor(); }}\n"
    ),
    "structs of InferenceMode": cpp("", "struct S@ { c10::InferenceMode g; at::AutoGradMode b{false}; void f() { x(); } };\n"),
    "guards kept in members": cpp(
        "",
        "struct S@ { void on() { guard_@ = std::make_unique<at::AutoNonVariableTypeMode>(true); }\n"
        "std::unique_ptr<at::AutoNonVariableTypeMode> guard_@; };\n",
    ),
    "guards on the heap of one function": cpp(
        f"void f{NET} {{\n", "auto* g@ = new at::AutoNonVariableTypeMode(true); m.forward(x); delete g@;\n", "}\n"
    ),
    "loads": cpp("", f'void f@(at::Tensor x) {{ auto m = torch::jit::load("m.pt"); {GUARD} m.forward({{x}}); }}\n'),
    # Names for guards.
    "aliases": cpp("", f"using G@ = at::AutoNonVariableTypeMode; at::Tensor f@{NET} {{ G@ g; {RUN} }}\n"),
    "chained aliases": cpp(
        "using G0 = at::AutoNonVariableTypeMode;\n", "using G% = G@;\n", f"at::Tensor f{NET} {{ G7 g; {RUN} }}\n"
    ),
    "uses of one alias": cpp("using G = at::AutoNonVariableTypeMode;\n", f"at::Tensor f@{NET} {{ G g(true); {RUN} }}\n"),
    "uses of chained aliases": cpp(
        "using G0 = at::AutoNonVariableTypeMode;\n", f"using G% = G@; at::Tensor f@{NET} {{ G% g(true); {RUN} }}\n"
    ),
    "uses of one using-declaration": cpp(
        "using at::AutoNonVariableTypeMode;\n", f"at::Tensor f@{NET} {{ AutoNonVariableTypeMode g(true); {RUN} }}\n"
    ),
    "using-declarations": cpp(
        "", f"namespace n@ {{ using at::AutoNonVariableTypeMode; at::Tensor f{NET} {{ AutoNonVariableTypeMode g; {RUN} }} }}\n"
    ),
    "namespace aliases": cpp("", f"namespace a@ = at; at::Tensor f@{NET} {{ a@::AutoNonVariableTypeMode g; {RUN} }}\n"),
    "structs of guards": cpp(
        "",
        "struct G@ { at::AutoGradMode a{false}; at::AutoNonVariableTypeMode b{true}; };\n"
        f"at::Tensor f@{NET} {{ G@ g; {RUN} }}\n",
    ),
    "structs of structs of guards": cpp(
        "struct G0 { at::AutoNonVariableTypeMode b{true}; };\n",
        f"struct G% {{ G@ g; }};\nat::Tensor f@{NET} {{ G% g; {RUN} }}\n",
    ),
    "uses of one struct of guards": cpp(
        "struct G { at::AutoNonVariableTypeMode b{true}; };\n", f"at::Tensor f@{NET} {{ G g; {RUN} }}\n"
    ),
    "unqualified names beside classes": cpp(
        "using namespace at;\n", f"struct C@ {{}};\nat::Tensor f@{NET} {{ AutoNonVariableTypeMode g(true); {RUN} }}\n"
    ),
    "static calls of aliases": cpp("", "using N@ = at::NonVariableTypeMode; bool f@() { return N@::is_enabled(); }\n"),
    "macros": cpp("", f"#define G@ {GUARD}\nat::Tensor f@{NET} {{ G@ {RUN} }}\n"),
    "uses of one macro": cpp(f"#define G {GUARD}\n", f"at::Tensor f@{NET} {{ G {RUN} }}\n"),
    "macros of macros": cpp(
        "#define G0 at::AutoNonVariableTypeMode\n", f"#define G% G@\nat::Tensor f@{NET} {{ G% g(true); {RUN} }}\n"
    ),
    "macros beside the uses": cpp("", f"#define UNUSED_@(x) do_@(x)\n{USE}"),
    "calls of macros": cpp("#define CHECK(x) do_check(x)\n", USE.replace(GUARD, f"CHECK(x); {GUARD} CHECK(x);")),
    # Who calls whom.
    "helpers that call the next": cpp(
        "", f"at::Tensor f@{NET} {{ {GUARD} return f%(m, x); }}\n", f"at::Tensor f@{NET} {{ {RUN} }}\n"
    ),
    "helpers that call the one before": cpp(
        f"at::Tensor f0{NET} {{ {RUN} }}\n", f"at::Tensor f%{NET} {{ {GUARD} return f@(m, x); }}\n"
    ),
    "helpers that call each other": cpp("", f"at::Tensor f@{NET} {{ {GUARD} f%(m, x); return f0(m, x); }}\n"),
    "helpers without a guard": cpp(
        f"at::Tensor f0{NET} {{ {GUARD} {RUN} }}\n", f"at::Tensor f%{NET} {{ return f@(m, x); }}\n"
    ),
    "callers of one helper": cpp(
        f"at::Tensor h{NET} {{ {GUARD} return x + 1; }}\n", f"at::Tensor f@{NET} {{ return h(m, x); }}\n"
    ),
    "one caller of many helpers": lambda count: {
        "a.cpp": HEAD
        + numbered(f"at::Tensor h@{NET} {{ {GUARD} return x + 1; }}\n", range(count))
        + f"void run{NET} {{ "
        + numbered("h@(m, x); ", range(count))
        + "}\n"
    },
    "kernels that are registered": lambda count: {
        "a.cpp": HEAD
        + numbered(f"at::Tensor k@(at::Tensor x) {{ {GUARD} return x + 1; }}\n", range(count))
        + "TORCH_LIBRARY_IMPL(my, Autograd, m) {\n"
        + numbered('  m.impl("k@", k@);\n', range(count))
        + "}\n"
    },
    "registrations of each kernel": cpp(
        "",
        f"at::Tensor k@(at::Tensor x) {{ {GUARD} return x + 1; }}\n"
        'TORCH_LIBRARY_IMPL(my@, CPU, m) { m.impl("k@", k@); }\n',
    ),
    "kernels that call their helpers": cpp(
        "",
        "static at::Tensor h@(const at::Tensor& x) { return at::relu(x); }\n"
        "struct F@ : torch::autograd::Function<F@> { static at::Tensor forward("
        f"torch::autograd::AutogradContext* ctx, at::Tensor x) {{ {GUARD} return h@(x); }} }};\n",
    ),
    "threads that are given functions": cpp(
        "", f"void w@{NET} {{ m.forward({{x}}); }}\nvoid f@{NET} {{ {GUARD} std::thread t(w@, m, x); t.join(); }}\n"
    ),
    "threads": cpp(
        "", f"void f@{NET} {{ {GUARD} std::thread t([&] {{ m.forward({{x}}); }}); t.join(); }}\n"
    ),
    "variables": cpp(f"void f{NET} {{\n{GUARD}\n", "auto y@ = x + @; x = y@.clone();\n", "m.forward(x);\n}\n"),
    "copies of variables": cpp(f"void f(Net& x0, at::Tensor y) {{ {GUARD}\n", "auto x% = x@; x%.run(y);\n", "}\n"),
    "changes in place": cpp("void f(at::Tensor x) {\nat::AutoDispatchBelowADInplaceOrView g;\n", "x.add_(@);\n", "}\n"),
    # Control flow.
    "else-if": cpp(f"void f{NET} {{\n", f"if (x.numel() == @) {{ {GUARD} m.forward(x); }} else\n", "m.forward(x);\n}\n"),
    "cases": cpp(f"void f{NET} {{ switch (n) {{\n", f"case @: {{ {GUARD} m.forward(x); break; }}\n", "}\n}\n"),
    "loops": cpp(f"void f{NET} {{\n", f"for (int i@ = 0; i@ < 2; i@++) {{ {GUARD} m.forward(x); }}\n", "}\n"),
    "returns": cpp(f"at::Tensor f{NET} {{\n{GUARD}\n", "if (x.numel() == @) return x + @;\n", f"{RUN}\n}}\n"),
    # Comments.
    "suppressed": cpp("", f"at::Tensor f@{NET} {{\n{GUARD}  // NOLINT(GF101)\n{RUN} }}\n"),
    "suppressed in the next line": cpp("", f"at::Tensor f@{NET} {{\n// NOLINTNEXTLINE(GF101)\n{GUARD}\n{RUN} }}\n"),
    "suppressed between two lines": cpp(
        "", f"// NOLINTBEGIN(GF101)\nat::Tensor f@{NET} {{ {GUARD} {RUN} }}\n// NOLINTEND(GF101)\n"
    ),
    "suppressions that never end": cpp("", f"// NOLINTBEGIN(GF101)\n{USE}"),
    "suppressions without an end": cpp("", f"// NOLINT(GF101,\n{USE}"),
    "codes in one suppression": cpp(f"{USE} // NOLINT(", "GF@,", ")\n"),
    "suppressions of nothing": cpp(USE, "int x@; // NOLINT(GF101)\n"),
    "comments": cpp("", f"/* here is a comment, @ */ // and another one, guard @\n{USE}"),
    "declared purposes one below the other": cpp("", "// guardfix: inference\n", USE),
    "declared purposes": cpp("", f"at::Tensor f@{NET} {{\n// guardfix: inference\n{GUARD}\n{RUN} }}\n"),
    # The preprocessor.
    "includes": cpp("", '#include "header_@.h"\n', USE),
    "includes of headers for guards": cpp("", f"#include <ATen/core/LegacyTypeDispatch.h>\n{USE}"),
    "dead code": cpp("", f"#if 0\n{USE}#endif\n", USE),
    "conditions": cpp("", f"#ifdef A@\n{USE}#else\n{USE}#endif\n"),
    "conditions inside": cpp(f"void f{NET} {{\n", f"#if A@ > 2\n{GUARD}\n#else\nat::NoGradGuard g;\n#endif\n", "}\n"),
    "elif": cpp("#if 0\n", f"#elif A == @\n{USE}", "#endif\n"),
    "elif without uses": cpp(f"#if A\n{USE}", "#elif A@\n", "#endif\n"),
    "macros with parameters": cpp("", f"#define IS_@(a) (a > @)\n#if IS_@(0)\n{USE}#endif\n"),
    "below what is defined": cpp("", f"#ifdef A@\n#ifndef A@\n{USE}#endif\n{USE}#endif\n"),
    "version gates": cpp(
        "",
        "#if TORCH_VERSION_MAJOR > 1 || (TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR >= 9)\n"
        f"at::Tensor f@{NET} {{ c10::InferenceMode g; {RUN} }}\n#else\n{USE}#endif\n",
    ),
    "continued lines": cpp("", f"at::Tensor f@{NET} {{ {GUARD} \\\n \\\n \\\n {RUN} }}\n"),
    "one long macro": cpp("#define ALL \\\n", f"  at::Tensor f@{NET} {{ {GUARD} {RUN} }} \\\n", "\nALL\n"),
    # What the parser cannot read.
    "errors": cpp("", f"at::Tensor f@{NET} {{ {GUARD} @@@@ $$ {RUN} }}\n"),
    "classes that are not closed": cpp("", f"struct S@ {{ void f@{NET} {{ {GUARD} m.forward(x);\n"),
    "braces that are not closed": cpp("", f"void f@{NET} {{ {GUARD} m.forward(x);\n"),
    "braces too many": cpp("", f"{USE}}}\n"),
    "parentheses that are not closed": cpp("", f"void f@{NET} {{ {GUARD} m.forward((((x); }}\n"),
    "attributes and macros": cpp("", f"API_@ MACRO_@(x) at::Tensor f@{NET} NOEXCEPT {{ {GUARD} {RUN} }}\n"),
    # Strings, and other languages.
    "strings": cpp("", f'const char* s@ = "{GUARD}";\n', USE),
    "raw strings": cpp("", f'const char* s@ = R"({GUARD})";\n', USE),
    "one raw string": cpp('const char* s = R"(', f"{GUARD}\n", f')";\n{USE}'),
    "Objective-C": cpp(
        "", f"- (at::Tensor)run@:(at::Tensor)x {{ {GUARD} [self log:@@\"x\"]; {RUN} }}\n", name="a.mm"
    ),
    "CUDA": cpp("", f"__global__ void k@() {{}} void f@{NET} {{ {GUARD} k@<<<1, 2>>>(); m.forward(x); }}\n", name="a.cu"),
}  # fmt: skip

CPP_BYTES: dict[str, Shape] = {
    # Beside one use, as much of this.
    "numbers in one line": cpp(f"{USE}int a[] = {{", "17,", "};\n"),
    "numbers in lines": cpp(f"{USE}int a[] = {{\n", "17, 18, 19, 20,\n", "};\n"),
    "one literal": cpp(f'{USE}auto s = "', "abcdefgh", '";\n'),
    "statements in one line": cpp(f"void f{NET} {{ {GUARD} m.forward(x); ", "x = at::add(x, 1); ", "}\n"),
    "statements": cpp(f"void f{NET} {{ {GUARD} m.forward(x);\n", "x = at::add(x, 1);\n", "}\n"),
    "sums": cpp(f"void f{NET} {{ {GUARD} m.forward(x); x = x", " + 1", ";}\n"),
    "calls of calls": cpp(f"void f{NET} {{ {GUARD} m.forward(x); x = x", ".add(1)", ";}\n"),
    "arguments": cpp(f"void f{NET} {{ {GUARD} m.forward(x); g(x", ", x", ");}\n"),
    "parameters": cpp("void f(torch::jit::Module& m", ", at::Tensor x@", f") {{ {GUARD} m.forward(x1); }}\n"),
    "initializers": cpp("struct S { S() : a(0)", ", b@(0)", f" {{ {GUARD} }} }};\n"),
    "enumerators": cpp(f"{USE}enum E {{", "E@, ", "};\n"),
    "blank lines": cpp(USE, "\n", USE.replace("@", "1")),
    "blanks": cpp(USE, " ", USE.replace("@", "1")),
    "stars": cpp(USE, "*", "\n"),
    "comment lines": cpp(USE, "// a comment line that says something about a guard\n"),
    "one comment": cpp(f"{USE}/*", " a long comment\n", "*/\n"),
    "openings of comments": cpp(f"{USE}/*", "/*", ""),
    "openings of raw strings": cpp(USE, 'R"(', ""),
    "quotes": cpp(USE, "'", "\n"),
    "quotation marks": cpp(USE, '"', "\n"),
    "backslashes": cpp(USE, "\\", "\n"),
    "line continuations": cpp(USE, "\\\n", "\n"),
    "less-than signs": cpp(USE, "a<", "\n"),
    "words": cpp(USE, "word ", "\n"),
    "words of linkage": cpp(USE, "extern ", ") {\n"),
    "one word": cpp(USE, "word", "\n"),
    "hashes": cpp(USE, "#\n", ""),
    "endifs": cpp(USE, "#endif\n", ""),
    "defines": cpp(USE, "#define A@ A%\n", ""),
    "undefs": cpp(USE, "#define A @\n#undef A\n", ""),
    "colons": cpp(USE, "::a", ";\n"),
    "semicolons": cpp(USE, ";", "\n"),
    "commas in a condition": cpp("#if A", " || A == @", f"\n{USE}#endif\n"),
    "nolint": cpp(USE, "// NOLINT", "\n"),
    "nolint with spaces": cpp(f"{USE}// NOLINT(", " ", "\n"),
}  # fmt: skip

DEPTHS: dict[str, Shape] = {
    # So many levels around one use.
    "braces": nested(f"{HEAD}void f() {{ ", "{", f"{GUARD} m.forward(x);", "}", " }\n"),
    "namespaces": nested(HEAD, "namespace a {", f"void f() {{ {GUARD} m.forward(x); }}", "}", "\n"),
    "classes": nested(HEAD, "struct A@ {", f"void f() {{ {GUARD} m.forward(x); }}", "};", "\n"),
    "conditions around": nested(HEAD, "#if A@\n", f"void f() {{ {GUARD} m.forward(x); }}\n", "#endif\n"),
    "lambdas": nested(f"{HEAD}void f() {{ ", f"auto g@ = [&] {{ {GUARD} ", "m.forward(x);", "};", " }\n"),
    "lambdas without a guard": nested(f"{HEAD}void f() {{ {GUARD} ", "call([&] { ", "m.forward(x);", "});", " }\n"),
    "blocks with guards": nested(f"{HEAD}void f() {{ ", f"{{ {GUARD} ", "m.forward(x);", "}", " }\n"),
    "ifs": nested(f"{HEAD}void f() {{ ", "if (a@) { ", f"{GUARD} m.forward(x);", "}", " }\n"),
    "ifs with guards": nested(f"{HEAD}void f() {{ ", f"if (a@) {{ {GUARD} ", "m.forward(x);", "}", " }\n"),
    "loops in loops": nested(f"{HEAD}void f() {{ ", "for (;;) ", f"{{ {GUARD} m.forward(x); }}", "", " }\n"),
    "parentheses": nested(f"{HEAD}void f() {{ {GUARD} m.forward(", "(", "x", ")", "); }\n"),
    "calls": nested(f"{HEAD}void f() {{ {GUARD} m.forward(", "g(", "x", ")", "); }\n"),
    "template arguments around a guard": nested("", "A<", "at::AutoNonVariableTypeMode", ">"),
    "guards in template arguments": nested("", "A<at::AutoNonVariableTypeMode,", "int", ">", " x;"),
    "guards in calls": nested("void f() { ", "g(at::AutoNonVariableTypeMode(),", "1", ")", "; }\n"),
    "optional guards in calls": nested("void f() { ", "std::optional<at::AutoNonVariableTypeMode> g(h(", "1", "))", "; }\n"),
    "lambdas with guards in calls": nested("void f() { ", "g([&]{ at::AutoNonVariableTypeMode g;", "", "})", "; }\n"),
    "lambdas with guards in threads": nested(f"{HEAD}void f() {{ ", f"pool.run([&] {{ {GUARD} h(", "m.forward(x)", ");}) ", "; }\n"),
    "lambdas that are called at once": nested(f"{HEAD}void f() {{ ", f"[&] {{ {GUARD} ", "m.forward(x);", "}();", " }\n"),
    "brackets that nothing closes": nested("void f() { ", "(at::AutoNonVariableTypeMode ", "", ""),
    "template arguments": nested(f"{HEAD}void f() {{ {GUARD} m.forward(x); ", "std::vector<", "int", ">", " v; }\n"),
    "initializer lists": nested(f"{HEAD}void f() {{ {GUARD} m.forward(x); auto v = ", "{", "1", "}", "; }\n"),
    "indices": nested(f"{HEAD}void f() {{ {GUARD} m.forward(", "x[", "1", "]", "); }\n"),
    "pointers": nested(f"{HEAD}void f() {{ {GUARD} m.forward(x); int ", "*", "p", "", "; }\n"),
    "python calls": nested(
        "import torch\n@torch.no_grad()\nasync def f(x):\n  return ", "g(", "x", ")", "\n", name="a.py"
    ),
    "python lists": nested(
        "import torch\n@torch.no_grad()\nasync def f(x):\n  return ", "[", "x", "]", "\n", name="a.py"
    ),
    "python signs": nested("import torch\n@torch.no_grad()\nasync def f(x):\n  return ", "-", "x", "", "\n", name="a.py"),
}  # fmt: skip

_NO_GRAD = "with torch.no_grad:\n"
PYTHON: dict[str, Shape] = {
    "guards in one string": python("import torch\nx = '''", "at::AutoNonVariableTypeMode g;\n", "'''\n"),
    "blocks in one string": python(
        "import torch\nx = '''void f(Module& m) {\n", "{ at::AutoNonVariableTypeMode g@; m.forward({}); }\n", "}'''\n"
    ),
    "literals side by side": python("import torch\nx = (", "'at::AutoNonVariableTypeMode g;\\n'\n", ")\n"),
    "literals side by side in one line": python("import torch\nx = (", "'AutoNonVariableTypeMode g;' ", ")\n"),
    "strings": python("import torch\n", "x@ = 'void f() { at::AutoNonVariableTypeMode g; }'\n"),
    "f-strings": python("import torch\nx = [\n", "f'{{ at::AutoNonVariableTypeMode g; }}',  # noqa: GF2\n", "]\n"),
    "one guard above one function": python("import torch\n", "@@torch.no_grad()\n", "async def f(x): return x\n"),
    "guards above one function": python(
        "import torch\n", "@@torch.set_grad_enabled(@)\n", "async def f(x):\n  return x\n"
    ),
    "guards above functions": python("import torch\n", "@@torch.no_grad()\nasync def f@(x):\n    return x\n\n"),
    "old guards": python(OLD, "def f@(x):\n  with AutoNonVariableTypeMode():\n    return model(x)\n"),
    "old guards above functions": python(OLD, "@@AutoNonVariableTypeMode()\ndef f@(x):\n  return model(x)\n"),
    "old guards in one function": python(
        f"{OLD}def f(x):\n", "  with AutoNonVariableTypeMode():\n    x = model(x)\n", "  return x\n"
    ),
    "with-blocks in one function": python(
        "import torch\ndef f(model, x):\n", "  with torch.inference_mode():\n    x = model(x)\n", "  return x\n"
    ),
    "with-blocks": python("import torch\n", "with torch.no_grad():\n  x = model(x)\n"),
    "bare guards": python("import torch\n", "def f@(model, x):\n  torch.no_grad()\n  return model(x)\n"),
    "bare guards in one function": python("import torch\ndef f(model, x):\n", "  torch.no_grad()\n  x = model(x)\n"),
    "redundant guards": python(
        "import torch\n", "def f@(m, x):\n  with torch.inference_mode():\n    with torch.no_grad():\n      return m(x)\n"
    ),
    "redundant guards under one": python(
        "import torch\ndef f(m, x):\n  with torch.no_grad():\n", "    with torch.no_grad():\n      x = m(x)\n"
    ),
    "items of one with": python("import torch\ndef f(x):\n  with ", "torch.no_grad(), ", "open(x):\n    return x\n"),
    "escapes": python(
        "import torch\n",
        "class M@:\n  def f(self, x):\n    with torch.inference_mode():\n      self.y = self.model(x)\n    return self.y.add_(1)\n",
    ),
    "escapes from one function": python(
        "import torch\ndef f(model, x, w):\n",
        "  with torch.inference_mode():\n    y@ = model(x)\n  z@ = y@ * w\n",
        "  return z0.sum().backward()\n",
    ),
    "lazy caches": python(
        "import torch\n",
        "class M@:\n  @@torch.inference_mode()\n  def run(self, x):\n    if self.c is None:\n      self.c = torch.ones(3)\n    return x * self.c\n",
    ),
    "lazy caches of one class": python(
        "import torch\nclass M:\n",
        "  @@torch.inference_mode()\n  def run@(self, x):\n    if self.c@ is None:\n      self.c@ = torch.ones(3)\n    return x * self.c@\n",
    ),
    "methods of one name": python(
        "import torch\n", "class M@:\n  def run(self, x):\n    with torch.no_grad():\n      return self.run(x)\n"
    ),
    "functions that call the next": python(
        "import torch\n", "def f@(x):\n  with torch.inference_mode():\n    return f%(x)\n"
    ),
    "backward under a guard": python(
        "import torch\n", "def f@(m, x):\n  with torch.inference_mode():\n    m(x).sum().backward()\n"
    ),
    "generators": python("import torch\n", "def f@(xs):\n  with torch.no_grad():\n    for x in xs:\n      yield x\n"),
    "yields under one guard": python("import torch\ndef f(xs):\n  with torch.no_grad():\n", "    yield xs[@]\n"),
    "training steps": python(
        "import torch\n",
        "def step@(m, x, o):\n  o.zero_grad()\n  with torch.inference_mode():\n    y = m(x)\n  y.sum().backward()\n  o.step()\n",
    ),
    "raw guards": python("import torch\n", "def f@(x):\n  g = torch._C._InferenceMode(True)\n  return x\n"),
    "switches": python("import torch\n", "torch.set_grad_enabled(False)\nx = m(x)\ntorch.set_grad_enabled(True)\n"),
    "assigned guards": python("import torch\n", "g@ = torch.no_grad()\nwith g@:\n  x = m(x)\n"),
    "imports": python("import torch\n", "from torch import no_grad as g@\n@@g@()\nasync def f@(x): return x\n"),
    "imports of one name": python("", "import torch\n@@torch.no_grad()\nasync def f@(x): return x\n"),
    "names for torch": python("import torch as t0\n", "t% = t@\nwith t%.inference_mode():\n  x = m(x)\n"),
    "modules": python("import torch\n", "import module@\n", _NO_GRAD + "  x = m(x)\n"),
    "suppressed": python("import torch\n", "@@torch.no_grad()  # noqa: GF401\nasync def f@(x):\n  return x\n"),
    "suppressions without an end": python("import torch\n", "x@ = 1  # noqa: GF401,\n", _NO_GRAD + "  x = m(x)\n"),
    "comments": python("import torch\n", "# a comment about x@\nx@ = 1\n", _NO_GRAD + "  x = m(x)\n"),
    "else-if": python("import torch\nif a == 0: pass\n", f"elif a == @:\n  {_NO_GRAD}    x = m(x)\n"),
    "tries": python("import torch\n", f"try:\n  {_NO_GRAD}    x = m(x)\nexcept E@:\n  pass\n"),
    "generators with guards in one function": python(
        "import torch\ndef f():\n", "  @@torch.no_grad()\n  def f@(xs):\n    for x in xs:\n      yield x\n"
    ),
    "one variable for all guards": python(
        "import torch\ndef f(model, x):\n", "  g = torch.no_grad()\n  with g:\n    x = model(x)\n", "  return x\n"
    ),
    "modes entered on one stack": python(
        "import contextlib, torch\ndef f(model, x):\n  with contextlib.ExitStack() as stack:\n",
        "    stack.enter_context(torch.inference_mode())\n    y@ = model(x)\n",
        "  return y0.add_(1)\n",
    ),
    "escapes in one string": python("import torch\nx = b'at::AutoNonVariableTypeMode g;", "\\N{", "'\n"),
    "grad mode off and on": python("import torch\ndef f(m, x):\n", "  torch.set_grad_enabled(False); y@ = m(x); torch.set_grad_enabled(True)\n"),
    "guards around pauses": python("import torch\ndef f(m, xs):\n", "  with torch.no_grad():\n    yield from (m(x) for x in xs)\n"),
    "lambdas": python("import torch\n", "f@ = lambda x: torch.no_grad()(g)(x)\n"),
    "one list": python("import torch\nx = [", "1, ", "]\n" + _NO_GRAD + "  x = m(x)\n"),
    "one list in lines": python("import torch\nx = [\n", "  1, 2, 3,\n", "]\n" + _NO_GRAD + "  x = m(x)\n"),
    "one dictionary": python("import torch\nx = {\n", "  'a@': @,\n", "}\n" + _NO_GRAD + "  x = m(x)\n"),
    "one string": python("import torch\nx = '", "abcdefgh", "'\n" + _NO_GRAD + "  x = m(x)\n"),
    "statements under one guard": python("import torch\ndef f(m, x):\n  " + _NO_GRAD, "    x = m(x)\n"),
    "statements under inference mode": python(
        "import torch\ndef f(model, x):\n  with torch.inference_mode():\n", "    y@ = model(x)\n    x = y@ + 1\n", "  return x\n"
    ),
    "attributes": python("import torch\ndef f(x):\n  " + _NO_GRAD + "    return x", ".a@", "\n"),
    "semicolons": python("import torch\n", "x = 1; ", "\n" + _NO_GRAD + "  x = m(x)\n"),
    "continued lines": python("import torch\nx = 1", " + \\\n 1", "\n" + _NO_GRAD + "  x = m(x)\n"),
    "doctests": python("import torch\n'''\n", ">>> with torch.no_grad():\n...   x = m(x)\n", "'''\n"),
}  # fmt: skip

_EPOCH = "  y = encode0(x)\n  loss = (y * w).sum()\n  loss.backward()\n"
_MADE = "  with torch.inference_mode():\n"
FLOWS: dict[str, Shape] = {
    # Tensors that the machine follows a long way.
    "a table that grows": python(
        "import torch\ndef f(x):\n  d = {}\n  with torch.inference_mode():\n    d[0] = x * 2\n",
        "  d['k@'] = [d, (x, d.get('k@'))]\n",
        "  d['k0'][0].add_(1)\n",
    ),
    "chain of calls": python(
        "import torch\n", "def encode@(x):\n  return encode%(x + 1)\n", f"def train(x, w):\n{_MADE}    x = model(x)\n{_EPOCH}"
    ),
    "chain of calls, last first": python(
        f"import torch\ndef train(x, w):\n{_MADE}    x = model(x)\n{_EPOCH}", "def encode@(x):\n  return encode%(x) + 1\n"
    ),
    "functions that call one another": python(
        "import torch\n",
        "@@torch.inference_mode()\ndef f@(x):\n  return g@(x) if x is None else f%(x)\ndef g@(x):\n  return f%(f@(x))\n",
    ),
    "one helper called by all": python(
        "import torch\n@torch.inference_mode()\ndef encode(x):\n  return model(x)\n",
        "def train@(x, w):\n  y = encode(x)\n  (y * w).sum().backward()\n",
    ),
    "branches": python(
        f"import torch\ndef train(x, w, a):\n{_MADE}    y = model(x)\n", "  if a[@]:\n    y = y + 1\n", "  (y * w).sum().backward()\n"
    ),
    "branches that return": python(
        f"import torch\ndef train(x, w, a):\n{_MADE}    y = model(x)\n",
        "  if a == @:\n    return (y * w).sum().backward()\n",
    ),
    "attributes of one object": python(
        f"import torch\nclass M:\n  def fill(self, x):\n{_MADE}".replace("  with", "    with"),
        "      self.y@ = self.model(x)\n",
        "  def train(self, w):\n    (self.y0 * w).sum().backward()\n",
    ),
    "loops": python(
        f"import torch\ndef train(xs, w):\n{_MADE}    y = model(xs)\n",
        "  for x in xs:\n    y = y + x\n    while x:\n      y = y * 2\n",
        "  (y * w).sum().backward()\n",
    ),
    "one loop": python(
        f"import torch\ndef train(xs, w):\n  for x in xs:\n{_MADE}".replace("  with", "    with"),
        "      y@ = model(x)\n",
        "    (y0 * w).sum().backward()\n",
    ),
    "items of a list": python(
        f"import torch\ndef train(x, w):\n  ys = []\n{_MADE}", "    ys.append(model(x))\n", "  (ys[0] * w).sum().backward()\n"
    ),
    "classes that derive from the one before": python(
        "import torch\nclass M0(torch.nn.Module): pass\n",
        "class M%(M@):\n  @@torch.inference_mode()\n  def f@(self, x):\n    self.y = self.f(x)\n    return self.y\n",
    ),
    "closures": python(
        "import torch\n",
        "def make@(x, w):\n  @@torch.inference_mode()\n  def inner():\n    return model(x)\n  (inner() * w).sum().backward()\n",
    ),
    "C++ chain of calls": cpp(
        "", "at::Tensor f@(at::Tensor x) { return f%(x + 1); }\n",
        "void train(at::Tensor x, at::Tensor w) { { c10::InferenceMode g; x = torch::ones(3); } (f0(x) * w).sum().backward(); }\n",
    ),
    "C++ branches": cpp(
        "void train(at::Tensor x, at::Tensor w, int a) {\n{ c10::InferenceMode g; x = torch::ones(3); }\n",
        "if (a == @) x = x + 1;\n",
        "(x * w).sum().backward();\n}\n",
    ),
    "C++ members of one object": cpp(
        "struct M {\n",
        "at::Tensor y@; void fill@(at::Tensor x) { c10::InferenceMode g; y@ = torch::ones(3); }\n",
        "void train(at::Tensor w) { (y0 * w).sum().backward(); }\n};\n",
    ),
}  # fmt: skip

_ONE_USE = f"{HEAD}at::Tensor f@{NET} {{ {GUARD} {RUN} }}\n"
FILES: dict[str, Shape] = {
    # As many files as the number says.
    "files": files(_ONE_USE),
    "files that define the same helper": files(f"{HEAD}at::Tensor helper{NET} {{ {GUARD} {RUN} }}\n"),
    "files that define and call the same helper": files(
        f"{HEAD}static at::Tensor helper(at::Tensor x) {{ {GUARD} return x + 1; }}\n"
        "at::Tensor run@(at::Tensor x) { return helper(x); }\n"
    ),
    "files that call one helper": files(
        f"{HEAD}at::Tensor helper{NET};\nat::Tensor run@{NET} {{ {GUARD} return helper(m, x); }}\n",
        helper_cc=f"{HEAD}at::Tensor helper@{NET} {{ {RUN} }}\n",
    ),
    "files that call the helper in the next one": files(f"{HEAD}at::Tensor f@{NET} {{ {GUARD} return f%(m, x); }}\n"),
    "files with the same class": files(
        f"{HEAD}struct Net {{ at::Tensor run(at::Tensor x) {{ {GUARD} return net.forward({{x}}); }} Module net; }};\n"
    ),
    "files with the same struct of guards": files(
        f"{HEAD}struct Guards {{ {GUARD} }};\nat::Tensor f@{NET} {{ Guards g; {RUN} }}\n"
    ),
    "files with the same macro": files(f"{HEAD}#define G {GUARD}\nat::Tensor f@{NET} {{ G {RUN} }}\n"),
    "files with the same alias": files(
        f"{HEAD}using G = at::AutoNonVariableTypeMode;\nat::Tensor f@{NET} {{ G g; {RUN} }}\n"
    ),
    "files that use one macro": files(
        f'#include "guards.h"\nat::Tensor f@{NET} {{ NO_GRAD_GUARD {RUN} }}\n', guards_h=f"#define NO_GRAD_GUARD {GUARD}\n"
    ),
    "files that use one alias": files(
        f'#include "guards.h"\nat::Tensor f@{NET} {{ Guard g; {RUN} }}\n', guards_h="using Guard = at::AutoNonVariableTypeMode;\n"
    ),
    "files that use one struct of guards": files(
        f'#include "guards.h"\nat::Tensor f@{NET} {{ Guards g; {RUN} }}\n', guards_h=f"struct Guards {{ {GUARD} }};\n"
    ),
    "files whose kernels are registered elsewhere": lambda count: {
        **{
            f"k{n}.cpp": numbered(f"{HEAD}at::Tensor k@(at::Tensor x) {{ {GUARD} return x + 1; }}\n", [n])
            for n in range(count)
        },
        "all.cpp": HEAD + "TORCH_LIBRARY_IMPL(a, CPU, m) {\n" + numbered('m.impl("k@", k@);\n', range(count)) + "}\n",
    },
    "files that register their kernels": files(
        f"{HEAD}at::Tensor kernel(at::Tensor x) {{ {GUARD} return x + 1; }}\n"
        'TORCH_LIBRARY_IMPL(a, CPU, m) { m.impl("k@", kernel); }\n'
    ),
    "files without a guard": files("void f@(at::Tensor x) { g(x); helper(x); }\n", one_cc=""),
    "files without a guard around an open use": files(
        "void f@(at::Tensor x) { g(x); helper(x); h.helper(f%); }\n", one_cc=f"{HEAD}at::Tensor helper(at::Tensor x) {{ {GUARD} return x + 1; }}\n"
    ),
    "folders": files(_ONE_USE, "d@/f.cpp"),
    "nested folders": lambda count: {
        "/".join(f"d{level}" for level in range(n % 40)) + f"/f{n}.cpp": numbered(_ONE_USE, [n]) for n in range(count)
    },
    "folders with patterns": lambda count: {
        **{f"d{n}/f.cpp": numbered(_ONE_USE, [n]) for n in range(count)},
        **{f"d{n}/.gitignore": f"*.o\nbuild{n}/\n" for n in range(count)},
    },
    "patterns": lambda count: {"f.cpp": numbered(_ONE_USE, [0]), ".gitignore": numbered("build@/*.cpp\n**/x@*y*.h\n", range(count))},
    "patterns and files": lambda count: {
        **{f"f{n}.cpp": numbered(_ONE_USE, [n]) for n in range(count)}, ".gitignore": "*.o\n*.so\nbuild/\n" * 3
    },
    "python files": files("import torch\n@@torch.no_grad()\nasync def f@(x):\n  return x\n", "f@.py"),
    "python files that import the next": files(
        "import torch\nfrom f% import g%\ndef g@(x):\n  with torch.inference_mode():\n    return g%(x)\n", "f@.py"
    ),
    "python files that name guards anew": files("from f% import guard\n@@guard()\nasync def f(x): return x\n", "f@.py"),
    "python files with the same class": files(
        "import torch\nclass M:\n  def f(self, x):\n    with torch.inference_mode():\n      self.y = self.m(x)\n", "f@.py"
    ),
    "python files that import the one before": files(
        "import torch\nfrom f@ import encode@\n@@torch.inference_mode()\ndef encode%(x):\n  return encode@(x) + 1\n"
        "def train%(x, w):\n  (encode%(x) * w).sum().backward()\n",
        "f%.py",
    ),
    "documents": files(f"```cpp\n{USE}```\n", "f@.md"),
}  # fmt: skip

ALL: dict[str, tuple[Shape, int]] = {
    **{f"C++: {name}": (shape, 100) for name, shape in CPP.items()},
    **{f"C++ bytes: {name}": (shape, 2000) for name, shape in CPP_BYTES.items()},
    **{f"depth: {name}": (shape, 40) for name, shape in DEPTHS.items()},
    **{f"Python: {name}": (shape, 100) for name, shape in PYTHON.items()},
    **{f"flow: {name}": (shape, 50) for name, shape in FLOWS.items()},
    **{f"files: {name}": (shape, 50) for name, shape in FILES.items()},
}
"""Each shape with a number that makes it small."""
