"""Writes and views that the old guard counts and tracks since torch 1.9, below a guard: what is one, and what is none."""

from __future__ import annotations

import pytest

from cpp_snippets import snippet
from guardfix.linter.flow.what_if import events_instead
from guardfix.linter.guards import Effect

HELPERS = """
void fill(at::Tensor& out, const at::Tensor& x) { out.copy_(x); }
void twice_removed(at::Tensor& out) { fill(out, at::ones({1})); }
at::Tensor fresh(const at::Tensor& x) { auto y = at::empty_like(x); y.copy_(x); return y; }
"""
HEAD = "at::Tensor f(AutogradContext* ctx, at::Tensor x, at::Tensor out, std::vector<at::Tensor> outs, int count) {{ {} }}\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param("GUARD; out.add_(x); return y;", ["`add_`"], id="a parameter"),
        pytest.param("out.add_(x); GUARD; return y;", [], id="above the guard"),
        pytest.param("GUARD; out += x; return y;", ["`+=`"], id="an operator"),
        pytest.param("GUARD; out[0] = x; return y;", ["`[] =`"], id="an element of a tensor"),
        pytest.param("GUARD; outs[0] = x; return y;", [], id="an element of a container"),
        pytest.param("GUARD; count += 1; return y;", [], id="a number"),
        pytest.param("GUARD; out = at::relu(x); return out;", [], id="the variable gets another tensor"),
        pytest.param("GUARD; auto v = out.view({-1}); v.mul_(2); return y;", ["`mul_`"], id="a view of it"),
        pytest.param("GUARD; auto v = out; v.mul_(2); return y;", ["`mul_`"], id="another name of it"),
        pytest.param("GUARD; auto v = out.contiguous(); v.mul_(2); return y;", ["`mul_`"], id="perhaps the same"),
        pytest.param("GUARD; auto v = out.clone(); v.mul_(2); return v;", [], id="a copy"),
        pytest.param("GUARD; auto v = at::mul(x, 2); v.relu_(); return v;", [], id="a new tensor"),
        pytest.param("GUARD; at::add_out(out, x, x); return y;", ["`add_out`"], id="an out variant"),
        pytest.param("GUARD; at::add_outf(x, x, 1, out); return y;", ["`add_out`"], id="out comes last"),
        pytest.param("GUARD; at::redispatch::add_(ks, out, x, 1); return y;", ["`add_`"], id="redispatch"),
        pytest.param("GUARD; fill(out, x); return y;", ["`copy_`"], id="through a function"),
        pytest.param("GUARD; twice_removed(out); return y;", ["`copy_`"], id="through two functions"),
        pytest.param("GUARD; return fresh(x);", [], id="through a function that writes to its own"),
        pytest.param("GUARD; auto y = fresh(x); fill(y, x); return y;", [], id="a new tensor through a function"),
        pytest.param("GUARD; out.add_(x); ctx->mark_dirty({out}); return out;", [], id="autograd is told"),
        pytest.param("GUARD; for (auto& t : outs) t.zero_(); return y;", ["`zero_`"], id="each of a list"),
        pytest.param("GUARD; kept_.add_(x); return y;", ["`add_`"], id="a member"),
        pytest.param("GUARD; ctx->get_saved_variables()[0].add_(x); return y;", ["`add_`"], id="what has no name"),
        pytest.param(
            "GUARD; auto saved = ctx->get_saved_variables(); saved[0].add_(x); return y;",
            ["`add_`"],
            id="a saved tensor",
        ),
        pytest.param("GUARD; return x.transpose(0, 1);", ["a view"], id="a view is given back"),
        pytest.param("GUARD; auto v = x.select(0, 1); return v;", ["a view"], id="a view with a name"),
        pytest.param("GUARD; return at::select(x, 0, 1);", ["a view"], id="by a function"),
        pytest.param("GUARD; return x;", [], id="the tensor itself"),
        pytest.param("GUARD; return at::relu(x).view({-1});", [], id="a view of a new tensor"),
        pytest.param("GUARD; x.requires_grad_(false); return y;", [], id="no write"),
    ],
)
def test_what_is_not_counted(code: str, found: list[str]) -> None:
    read = snippet(HELPERS + HEAD.format(code))
    events = events_instead(read.use(), read.facts, read.project, Effect.BELOW_ADINPLACEORVIEW)
    assert all(event.what.startswith(words) for event, words in zip(events, found, strict=True)), events
