"""Each header includes the standard headers whose names it uses, itself or by another of ours.

What one standard header brings of another differs between libraries, and falls with each release: `<string>` had
`uint32_t` up to GCC 12.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from guardfix.runtime_shim.cpp.own_headers import INCLUDE, forwarding_headers

NAMES = {
    "algorithm": r"std::(?:sort|transform|find(?:_if)?|min|max|copy|fill|(?:all|any|none)_of|reverse|equal|clamp)\(",
    "any": r"std::any\b",
    "array": r"std::array<",
    "atomic": r"std::atomic",
    "cassert": r"\bassert\(",
    "chrono": r"std::chrono",
    "cmath": r"std::(?:sqrt|exp|log|pow|floor|ceil|isnan|isinf|tanh|sin|cos)\(",
    "complex": r"std::complex",
    "condition_variable": r"std::condition_variable",
    "cstdint": r"\bu?int(?:8|16|32|64|ptr)_t\b",
    "cstdlib": r"std::(?:getenv|abort|exit)\b",
    "cstring": r"std::(?:memcpy|memset|strlen|strcmp)\b",
    "functional": r"std::(?:function|hash|less|reference_wrapper)\b",
    "initializer_list": r"std::initializer_list",
    "iterator": r"std::(?:back_inserter|distance|next|prev|reverse_iterator)\b",
    "limits": r"std::numeric_limits",
    "map": r"std::map<",
    "memory": r"std::(?:unique_ptr|shared_ptr|make_unique|make_shared|weak_ptr|enable_shared_from_this)\b",
    "mutex": r"std::(?:mutex|lock_guard|unique_lock|call_once)\b",
    "numeric": r"std::(?:accumulate|iota)\b",
    "optional": r"std::(?:optional|nullopt)\b",
    "random": r"std::mt19937",
    "set": r"std::set<",
    "sstream": r"std::[oi]?stringstream",
    "stdexcept": r"std::(?:runtime_error|logic_error|invalid_argument|out_of_range)\b",
    "string": r"std::string\b",
    "string_view": r"std::string_view",
    "thread": r"std::(?:thread\b|this_thread)",
    "tuple": r"std::(?:tuple|tie|make_tuple)\b",
    "type_traits": r"std::(?:is_same|enable_if|decay|is_convertible|conditional|is_integral|remove_cv)",
    "unordered_map": r"std::unordered_map<",
    "unordered_set": r"std::unordered_set<",
    "utility": r"std::(?:move|forward|pair|swap|exchange|index_sequence)\b",
    "variant": r"std::variant",
    "vector": r"std::vector<",
}

_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)', re.MULTILINE)
_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def headers(folder: Path) -> dict[str, str]:
    """Those of the shim by their names; `.def` files are tables that headers include between their own lines."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".def")
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def lacking(files: dict[str, str]) -> dict[str, list[str]]:
    """Header -> the standard headers that it needs and that neither it nor what it includes of ours names."""
    included = {name: set(_INCLUDE.findall(text)) for name, text in files.items()}

    def reached(name: str, seen: set[str]) -> set[str]:
        for other in included.get(name, set()) - seen:
            seen.add(other)
            beside = (Path(name).parent / other).as_posix()
            reached(other if other in files else beside, seen)
        return seen

    found = {}
    for name, text in files.items():
        near = reached(name, set())
        code = _NO_CODE.sub("", text)
        missing = [header for header, names in NAMES.items() if header not in near and re.search(names, code)]
        # pybind11 and Python.h are there in one version each, and bring what they bring.
        if missing and not any(header == "Python.h" or header.startswith("pybind11/") for header in near):
            found[name] = missing
    return found


def test_the_shim_s_headers_name_what_they_use() -> None:
    forwarding = {name: "".join(f"#include <{one}>\n" for one in names) for name, names in forwarding_headers().items()}
    assert lacking({**headers(INCLUDE), **forwarding}) == {}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        pytest.param("#include <string>\nuint32_t line;\n", ["cstdint"], id="a number of a width"),
        pytest.param("#include <cstdint>\nuint32_t line;\n", [], id="included"),
        pytest.param('#include "b.h"\nstd::string a;\n', [], id="by another of ours"),
        pytest.param("// std::string\nint a;\n", [], id="in a comment"),
        pytest.param("std::vector<std::string> a;\n", ["string", "vector"], id="two"),
    ],
)
def test_what_is_lacking(text: str, missing: list[str]) -> None:
    files = {"a.h": text, "b.h": "#include <string>\n"}
    assert lacking(files) == ({"a.h": missing} if missing else {})
