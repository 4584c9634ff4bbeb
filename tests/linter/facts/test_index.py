"""Finding facts by place, and asking callers once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardfix.linter.decision import callers
from guardfix.linter.engine import Options, check
from guardfix.linter.facts import Span
from guardfix.linter.facts.spans import Nested, Sorted

spans = st.builds(lambda start, length: Span(start, start + length), st.integers(0, 30), st.integers(0, 12))


@given(st.lists(spans), spans)
def test_within_gives_what_a_look_at_all_gives(items: list[Span], asked: Span) -> None:
    found = list(Sorted(items, lambda item: item).within(asked))
    assert sorted(found) == sorted(item for item in items if asked.holds(item))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param(Span(12, 13), [Span(11, 14), Span(10, 20), Span(0, 100)], id="innermost first"),
        pytest.param(Span(15, 16), [Span(10, 20), Span(0, 100)], id="behind an inner one"),
        pytest.param(Span(19, 21), [Span(0, 100)], id="across an edge"),
        pytest.param(Span(99, 101), [], id="across the outermost edge"),
        pytest.param(Span(200, 201), [], id="outside"),
    ],
)
def test_around_climbs_from_the_inside(asked: Span, expected: list[Span]) -> None:
    nested = Nested([Span(0, 100), Span(30, 40), Span(11, 14), Span(10, 20)], lambda item: item)
    assert list(nested.around(asked)) == expected


def test_each_function_is_asked_for_its_callers_once_per_depth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function calls its predecessors: the paths through the calls are far more than the functions."""
    functions = [
        f"at::Tensor f{n}(at::Tensor x) {{ at::AutoNonVariableTypeMode guard(true); "
        + " ".join(f"x = f{m}(x);" for m in range(max(0, n - 8), n))
        + " return x; }\n"
        for n in range(24)
    ]
    (tmp_path / "chain.cpp").write_text("#include <torch/torch.h>\n" + "".join(functions))
    asked: list[str] = []
    original = callers._ask

    def counted(scene, function, calls_up, policy):  # type: ignore[no-untyped-def]
        asked.append(function.name)
        return original(scene, function, calls_up, policy)

    monkeypatch.setattr(callers, "_ask", counted)
    report = check([str(tmp_path)], Options(select=("GF101",), workers=1))
    assert len(report.findings) == 24
    # Once for each depth (three) and each project that the engine joins: as it is read, with those who name what is
    # asked, with its project summary, with what the open uses reach.
    assert 0 < len(asked) <= 24 * 3 * 4
