"""Each kind of signal: where it is found, and what looks like it and is silent. Long because of their number."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from cpp_snippets import OLD, Snippet, snippet
from guardfix.linter.decision import signal_registry
from guardfix.linter.decision.observed_runs import ObservedRun, keep_runs
from guardfix.linter.decision.signal_kinds import Asked, Signal, SignalKind, Weight, shown, signal
from guardfix.linter.decision.signal_registry import direct_signals, signal_kinds, signals_at
from guardfix.linter.decision.use_context import scene_of
from guardfix.linter.engine import check as check_paths
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Context, Side

OP = "at::Tensor scale(const at::Tensor& self) { GUARD; return at::relu(self); }\n"
IN_PLACE = "at::Tensor& scale_(at::Tensor& self) { GUARD; return at::relu_(self); }\n"
FUNCTION = "struct Scale : torch::autograd::Function<Scale> {{ {} }};\n"
FORWARD = "static at::Tensor forward(AutogradContext* ctx, at::Tensor x) {{ {} }}\n"
BACKWARD = "static variable_list backward(AutogradContext* ctx, variable_list g) {{ {} }}\n"
HELPER = "static at::Tensor helper(AutogradContext* ctx, at::Tensor x) { GUARD; return at::relu(x); }\n"


def registered(key: str, name: str = "scale") -> str:
    opened = f"TORCH_LIBRARY_IMPL(ns, {key}, m)" if key else "TORCH_LIBRARY(ns, m)"
    call = f'm.impl("{name}", {name});' if key else f'm.def("{name}(Tensor self) -> Tensor", {name});'
    return f"{opened} {{ {call} }}\n"


def body(code: str, head: str = "at::Tensor f(at::Tensor x)") -> str:
    return f"{head} {{ {code} }}\n"


def signals_of_use(found: Snippet) -> list[Signal]:
    scene = scene_of(found.project, found.facts, found.use())
    return [signal for asked in Asked for signal in direct_signals(scene, asked=asked)]


RUNS = "at::Tensor helper(at::Tensor x) { return module.forward({x}).toTensor(); }\n"
FALLBACK = (
    "void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {{ GUARD; op.{1}(stack); }}\n"
    "TORCH_LIBRARY_IMPL(_, {0}, m) {{ m.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>()); }}\n"
)
INNER = (
    "at::Tensor outer(const at::Tensor& x) {{ {0} }}\n"
    'TORCH_LIBRARY_IMPL(my, {1}, m) {{ m.impl("outer", outer); }}\n'
    "at::Tensor inner_kernel(const at::Tensor& x) {{ return Inner::apply(x); }}\n"
    "at::Tensor inner(const at::Tensor& x) {{\n"
    '  return c10::Dispatcher::singleton().findSchemaOrThrow("my::inner", "").typed<F>().call(x);\n}}\n'
    'TORCH_LIBRARY_IMPL({3}, {2}, m) {{ m.impl("inner", inner_kernel); }}\n'
)
"""A kernel, its key, and how an op is given one that it may call."""
BY_SCHEMA = 'GUARD; return c10::Dispatcher::singleton().findSchemaOrThrow("my::inner", "").typed<F>().call(x);'
GRADIENT = "at::Tensor slope(at::Tensor x) { GUARD; return at::sigmoid(x); }\n" + FUNCTION.format(
    BACKWARD.format("return {g[0] * slope(g[0])};")
)
GAN = "void step(at::Tensor real) {{ at::Tensor fake; {{ GUARD; {} }} {} }}\n"
MAKES = "at::Tensor sample(at::Tensor z) { GUARD; return generator.forward({z}); }\n"
RESULT = (
    "at::Tensor features(at::Tensor x) {{ GUARD; return at::relu(x); }}\n"
    "void run() {{ auto w = torch::ones({{4}}, torch::requires_grad()); {}\n"
    "auto y = features(torch::ones({{4}})); {} }}\n"
)
HEAD = (
    "struct Head {{ at::Tensor feats; void fill(Backbone& b, at::Tensor x) {{ GUARD; {} = b->forward(x); }}\n"
    "void epoch{} {{ {} l.backward(); }} }};\n"
)
STEPS = "void step(at::Tensor x) { x.backward(); }\n"
LOADS = 'void open() { module = torch::jit::load("m.pt"); }\n'
CASES = [
    # declared
    *(
        (
            f"declared-{name.replace('_', '-')}",
            body(f"GUARD;  // guardfix: {name}\n return x;"),
            body(f"GUARD;\n return x;  // guardfix: {name}\n"),
        )
        for name in ("inference", "kernel", "below_autograd", "remove", "preserve")
    ),
    # kernels
    ("in-function-forward", FUNCTION.format(FORWARD.format("GUARD; return at::relu(x);")), FUNCTION.format(HELPER)),
    (
        "helps-function-forward",
        FUNCTION.format(HELPER),
        FUNCTION.format(HELPER + BACKWARD.format("return {helper(ctx, g[0])};")),
    ),
    ("registered-under-autograd", OP + registered("AutogradCUDA"), OP + registered("CUDA")),
    ("registered-under-adinplaceorview", OP + registered("ADInplaceOrView"), OP + registered("Autograd")),
    (
        "builds-graph",
        body("GUARD; auto edges = collect_next_edges(x); return at::relu(x);"),
        body("GUARD; auto edges = graph.collect_next_edges(x); return at::relu(x);"),
    ),
    ("registered-under-another-key", OP + registered("CUDA"), OP + registered("ADInplaceOrView")),
    ("registered-without-a-key", OP + registered(""), OP + registered("", "other")),
    (
        "calls-dispatcher",
        body("GUARD; return op.redispatch(keys, x);"),
        body("auto y = op.redispatch(keys, x); GUARD; return at::relu(y);"),
    ),
    (
        "takes-dispatch-key-set",
        body("GUARD; return at::relu(x);", "at::Tensor f(c10::DispatchKeySet ks, at::Tensor x)"),
        body("GUARD; return op.redispatch(ks, x);", "at::Tensor f(c10::DispatchKeySet ks, at::Tensor x)"),
    ),
    (
        "beside-exclude-key-guard",
        body("GUARD; c10::impl::ExcludeDispatchKeyGuard no(k); return at::relu(x);"),
        body("GUARD; { c10::impl::ExcludeDispatchKeyGuard no(k); } return at::relu(x);"),
    ),
    (
        "runs-on-stack",
        body("GUARD; auto x = pop(stack).toTensor(); push(stack, at::relu(x));", "void f(torch::jit::Stack& stack)"),
        body("GUARD; auto x = pop(queue).toTensor(); push(queue, at::relu(x));", "void f(Queue& queue, Stack& stack)"),
    ),
    (
        "in-parallel-region",
        body("at::parallel_for(0, n, 1, [&](int64_t a, int64_t b) { GUARD; y[a] = at::relu(x[a]); }); return y;"),
        body(
            "at::parallel_for(0, n, 1, [&](int64_t a, int64_t b) { GUARD; y[a] = model.forward({x[a]}); }); return y;"
        ),
    ),
    (
        "invoked-lambda-makes-tensor",
        body("return ([&]() { GUARD; return at::empty({2}); })();"),
        body("return ([&]() { GUARD; return at::relu(x); })();"),
    ),
    (
        "invoked-lambda-runs-op",
        body("return ([&]() { GUARD; return at::relu(x); })();"),
        body("return ([&]() { GUARD; return model.forward(x); })();"),
    ),
    (
        "below-tracer",
        body("GUARD; at::tracer::impl::NoTracerDispatchMode no_tracer; return make(x);"),
        body("GUARD; at::NoGradGuard no_grad; return make(x);"),
    ),
    ("makes-variable", body("GUARD; return make_variable(x);"), body("GUARD; return make_tensor(x);")),
    (
        "makes-variable",
        body("at::Tensor y; { GUARD; y = at::empty({2}); } return make_variable(y);"),
        body("at::Tensor y; { GUARD; y = at::relu(x); } return make_variable(y);"),
    ),
    ("only-makes-tensor", body("GUARD; return at::empty({2});"), body("GUARD; auto y = at::empty({2}); return x;")),
    (
        "only-makes-tensor",
        body("GUARD; return torch::utils::indexing_tensor_from_data(options, at::kLong, seq);"),
        body("GUARD; auto y = at::zeros_like(x); y.add_(x); return y;"),
    ),
    (
        "only-makes-tensor",
        body("GUARD; return at::empty({2}, at::TensorOptions(at::kFloat).device(device));"),
        body("GUARD; return at::empty({2}, at::result_type(x, y)).copy_(x);"),
    ),
    (
        "only-makes-tensor",
        "struct Rows { explicit Rows(int n) { GUARD; starts = at::empty({n}); } at::Tensor starts; };",
        "struct Rows { explicit Rows(int n) { GUARD; auto starts = at::empty({n}); } at::Tensor starts; };",
    ),
    (
        "only-makes-tensor",
        "#define MAKE(out) do { GUARD; out = at::empty({2}); } while (0)\n",
        "#define MAKE(out) do { GUARD; out = at::relu(at::empty({2})); } while (0)\n",
    ),
    (
        "records-trace",
        body("if (tracer::isTracing()) note(x); GUARD; return at::relu(x);"),
        body("if (tracer::isTracing()) note(x); GUARD; return module.forward({x});"),
    ),
    (
        "fills-raw-memory",
        body("GUARD; auto y = at::empty({2}); launch(x.data_ptr(), y.data_ptr()); return y;"),
        body("GUARD; auto y = at::empty({2}); launch(x.data_ptr(), y.data_ptr()); return at::relu(y);"),
    ),
    (
        "fills-raw-memory",
        body("GUARD; at::Tensor y = torch::zeros({2}); fill(y.mutable_data_ptr<float>());", "void f(TensorList given)"),
        body(
            "GUARD; at::Tensor y = torch::zeros({2}); fill(y.mutable_data_ptr<float>());", "void f(const Image& given)"
        ),
    ),
    *(
        (
            name,
            f"struct Ring : {base} {{ void reduce(at::Tensor& x) {{ GUARD; {work}; }} }};",
            f"struct Ring : {silent} {{ void reduce(at::Tensor& x) {{ GUARD; {other}; }} }};",
        )
        for base in ("public ProcessGroup", "c10d::Backend", "ProcessGroup::Work")
        for name, work, silent, other in (
            ("in-process-group", "send(x)", "QueuedWork", "send(x)"),
            ("in-process-group", "send(x)", base, "x.add_(1)"),
            ("writes-in-process-group", "x.add_(1)", base, "x.add(1)"),
        )
    ),
    (
        "in-variable-type",
        "namespace torch { namespace autograd { namespace VariableType { " + OP + "}}}",
        "namespace torch { namespace autograd { namespace VariableTypes { " + OP + "}}}",
    ),
    (
        "in-op-namespace",
        "namespace at { namespace native { " + OP + "}}",
        "namespace native_ops { " + OP + "}",
    ),
    # inference
    ("runs-model", body("GUARD; return module.forward({x});"), body("module.forward({x}); GUARD; return at::relu(x);")),
    (
        "runs-model",
        body('GUARD; return model.attr("act")(x);'),
        body('GUARD; model.attr("load_weights")(x); return x;'),
    ),
    (
        "runs-model",
        body('GUARD; return policy_net.attr("decode_step")(x);'),
        body('GUARD; policy_net.attr("eval")(); return x;'),
    ),
    (
        "runs-model",
        body("at::cuda::CUDAGraph graph; GUARD; graph.replay();"),
        body("History history; GUARD; history.replay();"),
    ),
    (
        "runs-model-outside",
        body("auto y = module.forward({x}); GUARD; return at::relu(y);"),
        body("auto y = module.forward({x}); GUARD; return module.forward({y});"),
    ),
    (
        "runs-model-outside",
        body("auto y = module.forward({x}); y.detach(); GUARD; return at::relu(y);"),
        body("auto y = module.forward({x}); y.backward(); GUARD; return at::relu(y);"),
    ),
    (
        "loads-model",
        body('auto module = torch::jit::load("m.pt"); GUARD; return use(module);'),
        body('std::ifstream in; load("m.pt"); GUARD; return use(in);'),
    ),
    (
        "prepares-model",
        body("GUARD; auto net = make(x); net->load_state_dict(weights); return net->norm();"),
        body("GUARD; auto y = (a + b).eval(); return y;"),
    ),
    (
        "file-loads-model",
        body("GUARD; return at::relu(x);") + 'void open() { module = torch::jit::load("m.pt"); }',
        body('GUARD; module = torch::jit::load("m.pt"); return at::relu(x);'),
    ),
    (
        "gradients-off",
        body("torch::AutoGradMode no_grad(false); GUARD; return at::relu(x);"),
        body("torch::AutoGradMode no_grad(true); GUARD; return at::relu(x);"),
    ),
    (
        "beside-graph-optimizer-guard",
        body("GUARD; torch::jit::GraphOptimizerEnabledGuard no(false); return at::relu(x);"),
        body("GUARD; { torch::jit::GraphOptimizerEnabledGuard no(false); } return at::relu(x);"),
    ),
    (
        "member-beside-model",
        "struct Net { torch::jit::Module module; at::AutoNonVariableTypeMode guard{true}; };",
        "struct Net { std::string module; at::AutoNonVariableTypeMode guard{true}; };",
    ),
    (
        "class-holds-model",
        "struct Net { torch::jit::Module module; " + OP + "};",
        "struct Net { torch::Tensor weight; " + OP + "};",
    ),
    (
        "reaches-model-run",
        RUNS + body("GUARD; return helper(x);"),
        RUNS + body("auto y = helper(x); GUARD; return at::relu(y);"),
    ),
    ("reaches-model-load", LOADS + body("GUARD; open(); return x;"), LOADS + body("GUARD; close(); return x;")),
    (
        "runs-graph-nodes",
        body("GUARD; for (auto& node : nodes_) node.run(); ", "void GraphExecutor::run()"),
        body("GUARD; for (auto& node : nodes_) node.run(); ", "void Cluster::run()"),
    ),
    (
        "in-test",
        body("GUARD; auto y = torch::ones({2}); EXPECT_TRUE(torch::equal(y, y));", "TEST(Math, Ones)"),
        body("GUARD; auto y = torch::ones({2}); EXPECT_TRUE(y.key_set().has(k));", "TEST(Math, Keys)"),
    ),
    ("in-program", body("GUARD; work();", "int main()"), body("GUARD; work();", "int domain()")),
    (
        "in-program",
        body("{ GUARD; work(); } loss.backward();", "int main()"),
        body("{ GUARD; work(); } loss.backward(); optimizer.step();", "int main()"),
    ),
    (
        "in-program",
        STEPS + body("{ GUARD; work(); } other(x);", "int main()"),
        STEPS + body("{ GUARD; work(); } step(x);", "int main()"),
    ),
    (
        "in-program",
        body("for (auto _ : state) { GUARD; work(); }", "static void run(benchmark::State& state)"),
        body("{ GUARD; work(); } optimizer.step();", "static void run(benchmark::State& state)"),
    ),
    (
        "handles-requests",
        "void add(std::shared_ptr<PredictionRequest> request);\nvoid pin(Entry& e) { GUARD; e.pin(); }\n"
        "void reply(std::unique_ptr<InferenceResponse> r) { send(r); }\n",
        "void pin(Entry& e) { GUARD; e.pin(); }\nvoid reply(std::unique_ptr<HttpResponse> r) { send(r); }\n",
    ),
    ("named-like-workload", body("GUARD; work();", "void predict()"), body("GUARD; work();", "void product()")),
    # remove
    *(
        ("hides-autograd-below-fallback", FALLBACK.format("PrivateUse1", "callBoxed"), silent)
        for silent in (
            FALLBACK.format("AutogradPrivateUse1", "callBoxed"),
            FALLBACK.format("PrivateUse1", "redispatchBoxed"),
            FALLBACK.format("PrivateUse1", "callBoxed").replace(
                "GUARD; op.callBoxed(stack);", "op.callBoxed(stack); GUARD;"
            ),
            FALLBACK.format("PrivateUse1", "callBoxed")
            .replace("IMPL(_", "IMPL(my")
            .replace("fallback(", 'impl("op", '),
        )
    ),
    *(
        ("hides-autograd-of-op", INNER.format(code, "CPU", "Autograd", "my"), INNER.format(*silent))
        for code in (BY_SCHEMA, "GUARD; return inner(x);")
        for silent in (
            (code, "Autograd", "Autograd", "my"),
            (code, "CPU", "CUDA", "my"),
            (code, "CPU", "Autograd", "other"),
            ("auto y = inner(x); GUARD; return at::relu(y);", "CPU", "Autograd", "my"),
            ("GUARD; return inner_kernel(x);", "CPU", "Autograd", "my"),
        )
    ),
    *(
        ("called-from-backward", GRADIENT, silent)
        for silent in (
            GRADIENT + body("return slope(x);", "at::Tensor other(at::Tensor x)"),
            GRADIENT.replace("backward(", "forward("),
            GRADIENT.replace("* slope(g[0])", ""),
        )
    ),
    (
        "in-function-backward",
        FUNCTION.format(BACKWARD.format("GUARD; return {at::relu(g[0])};")),
        FUNCTION.format(FORWARD.format("GUARD; return at::relu(x);")),
    ),
    (
        "in-node-apply",
        "struct B : torch::autograd::Node { variable_list apply(variable_list g) { GUARD; return {at::relu(g[0])}; } };",
        "struct B : torch::nn::Cloneable { variable_list apply(variable_list g) { GUARD; return {at::relu(g[0])}; } };",
    ),
    (
        "in-node-apply",
        "variable_list B::apply(variable_list&& g) { GUARD; return {at::relu(g[0])}; }",
        "at::Tensor B::apply(at::Tensor g) { GUARD; return at::relu(g); }",
    ),
    (
        "covers-nothing-in-forward",
        FUNCTION.format(FORWARD.format("auto y = at::relu(x); GUARD; return y;")),
        FUNCTION.format(FORWARD.format("auto y = at::relu(x); GUARD; return y + 1;")),
    ),
    *(
        ("covers-only-returns", body("auto y = at::relu(x); GUARD; return y;"), body(silent))
        for silent in (
            "auto y = at::relu(x); GUARD; return y + 1;",
            "auto y = at::relu(x); GUARD; int64_t n = 1; return y;",
            "auto y = at::relu(x); GUARD; co_return co_await y;",
            'auto y = at::relu(x); GUARD;\n#include "work.inc"\nreturn y;',
        )
    ),
    (
        "covers-only-returns",
        body("{ GUARD; } return x;"),
        body("{ GUARD; } EXPECT_TRUE(warned());", "TEST(Old, Warns)"),
    ),
    *(
        ("covers-nothing", body("auto y = at::relu(x); GUARD; int64_t n = 1; return y;"), body(silent))
        for silent in (
            "auto y = at::relu(x); GUARD; return y;",
            "auto y = at::relu(x); GUARD; kept.push_back(y * 2);",
            'auto y = at::relu(x); GUARD;\n#include "work.inc"\nreturn y;',
        )
    ),
    # against inference
    (
        "reaches-training",
        body("loss.backward();", "void train(at::Tensor loss)") + body("GUARD; train(x); return x;"),
        body("loss.backward();", "void train(at::Tensor loss)") + body("train(x); GUARD; return at::relu(x);"),
    ),
    *(
        ("result-meets-training", GAN.format(*found), GAN.format(*silent))
        for found, silent in (
            (("fake = net.forward(real);", "loss(fake).backward();"), ("auto y = net.forward(real);", "l.backward();")),
            (("kept.push_back(net(real));", "loss(kept).backward();"), ("kept.push_back(net(real));", "l.backward();")),
            (
                ("kept.push_back(net(real));", "for (auto& one : kept) loss(one).backward();"),
                ("kept.push_back(net(real));", "for (auto& one : real) show(one); l.backward();"),
            ),
            (("fake = net.forward(real);", "loss(fake).backward();"), ("fake = net.forward(real);", "show(fake);")),
            (
                ("fake = net.forward(real);", "loss(fake).backward();"),
                ("fake = real.add(1);", "loss(fake).backward();"),
            ),
        )
    ),
    *(
        ("result-meets-training", MAKES + body(code), MAKES.replace("at::Tensor sample", result) + body(silent))
        for code, result, silent in (
            ("auto y = sample(x); loss(y).backward();", "at::Tensor sample", "loss.backward(); return sample(x);"),
            ("loss(sample(x)).backward();", "double sample", "loss(sample(x)).backward();"),
            ("auto y = sample(x); y.backward();", "at::Tensor sample", "auto y = sample(x); y.detach();"),
        )
    ),
    *(
        ("result-meets-training", HEAD.format(*found), HEAD.format(*silent))
        for found in (
            ("feats", "(at::Tensor y)", "auto l = loss(feats, y);"),
            ("feats", "()", "auto l = fc->forward(feats);"),
        )
        for silent in (
            ("feats", "(at::Tensor feats)", found[2]),
            ("feats", found[1], found[2].replace("feats", "other")),
            ("feats", found[1], f"feats = other; {found[2]}"),
            ("auto feats", *found[1:]),
        )
    ),
    *(
        ("raises-in-inference", RESULT.format("", "auto loss = (y * w).sum();"), RESULT.format(*silent))
        for silent in (
            ("", "auto loss = (y.clone() * w).sum();"),
            ("", "auto loss = (y + w).sum();"),
            ("", "torch::NoGradGuard no_grad; auto loss = (y * w).sum();"),
            ("w = w.detach();", "auto loss = (y * w).sum();"),
        )
    ),
    ("trains", body("GUARD; loss.backward(); return x;"), body("loss.backward(); GUARD; return at::relu(x);")),
]


@pytest.mark.parametrize(("name", "found", "silent"), CASES, ids=[name for name, *_ in CASES])
def test_signal_is_found_and_is_silent(name: str, found: str, silent: str) -> None:
    assert name in {signal.kind.name for signal in signals_of_use(snippet(found))}
    assert name not in {signal.kind.name for signal in signals_of_use(snippet(silent))}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param("app.mm", True, id="Objective-C++"),
        pytest.param("app.cpp", False, id="C++"),
        pytest.param("app.cu", False, id="CUDA"),
    ],
)
def test_a_file_of_an_application_is_known_by_its_suffix(path: str, found: bool) -> None:
    kinds = {signal.kind.name for signal in signals_of_use(snippet(OP, path=path))}
    assert ("in-objective-c" in kinds) is found


SHOWN_BY_RUNNING = {
    "survives-as-kernel": Context.KERNEL,
    "survives-as-below-autograd": Context.BELOW_AUTOGRAD,
    "survives-as-inference": Context.INFERENCE,
    "survives-removal": Context.REMOVE,
}


@pytest.mark.parametrize("name", SHOWN_BY_RUNNING)
def test_what_running_showed_is_a_signal_for_that_guard(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "ops.cpp"
    source.write_text(OP.replace("GUARD;", "at::AutoNonVariableTypeMode guard(true);"))

    def found() -> set[str]:
        project = check_paths([str(source)]).project
        facts = project.files[str(source)]
        [use] = facts.guard_uses
        return {one.kind.name for asked in Asked for one in direct_signals(scene_of(project, facts, use), asked=asked)}

    assert not found() & set(SHOWN_BY_RUNNING)
    text = source.read_bytes()
    start = text.index(b"at::Auto")
    digest = Source(str(source), text).digest
    keep_runs(digest, [ObservedRun(start, SHOWN_BY_RUNNING[name], "tests/test_ops.py")], [source])
    assert found() & set(SHOWN_BY_RUNNING) == {name}
    keep_runs(digest, [ObservedRun(start + 1, SHOWN_BY_RUNNING[name], "tests/test_ops.py")], [source])
    assert not found() & set(SHOWN_BY_RUNNING), "another guard"


OF_TEMPLATES = {
    "chosen-beside-guard-below-autograd",
    "chosen-beside-kernel-guard",
    "template-of-calls",
    "template-of-kernels",
    "template-of-in-place-or-view",
    "template-of-workloads",
}
"""See test_template_signals.py."""


def test_every_kind_that_is_looked_for_has_its_cases() -> None:
    looked_for = {kind.name for kind in signal_kinds() if kind.find is not None and kind.asked is not Asked.LAST}
    elsewhere = {"in-objective-c", "beside-inference-workload", *SHOWN_BY_RUNNING, *OF_TEMPLATES}
    assert looked_for == {name for name, *_ in CASES} | elsewhere


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param('GUARD; auto m = torch::jit::load("m"); m.forward({}); { GUARD; f(); }', True, id="around it"),
        pytest.param('GUARD; GUARD; auto m = torch::jit::load("m"); m.forward({});', True, id="beside it"),
        pytest.param("GUARD; m.forward({}); { GUARD; f(); }", False, id="not surely inference"),
        pytest.param('{ GUARD; auto m = torch::jit::load("m"); m.forward({}); } GUARD; f();', False, id="has ended"),
        pytest.param('GUARD; torch::jit::load("m").forward({}); g([] { GUARD; f(); });', False, id="another function"),
    ],
)
def test_what_an_old_guard_beside_it_becomes_is_evidence(code: str, found: bool) -> None:
    read = snippet(body(code))
    last = [use for use in read.facts.guard_uses if use.guard == OLD][-1]
    signals = direct_signals(scene_of(read.project, read.facts, last))
    assert ("beside-inference-workload" in {one.kind.name for one in signals}) is found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(body("GUARD; tensor.requires_grad_(true); return x;"), True, id="a tensor is made a leaf"),
        pytest.param(body("GUARD; tensor.requires_grad_(false); return x;"), False, id="gradients are turned off"),
        pytest.param(body("GUARD; if (tensor.requires_grad()) g(); return x;"), False, id="it only asks"),
        pytest.param(body("GUARD; optimizer.step(); return x;"), True, id="an optimizer steps"),
        pytest.param(body("GUARD; actor_opt_->step(); return x;"), True, id="one of several optimizers steps"),
        pytest.param(body("GUARD; sgd.step([&] { return f(x); }); return x;"), True, id="an optimizer with a closure"),
        pytest.param(body("GUARD; step(); return x;"), False, id="a function called step"),
        pytest.param(body("GUARD; return env_.step(x);"), False, id="an environment steps"),
        pytest.param(body("GUARD; return decoder_->step(x, cache);"), False, id="a decoder steps"),
        pytest.param(body("GUARD; auto g = torch::autograd::grad({y}, {x}); return x;"), True, id="autograd::grad"),
    ],
)
def test_what_counts_as_training(text: str, expected: bool) -> None:
    kinds = {signal.kind.name for signal in signals_of_use(snippet(text))}
    assert ("trains" in kinds) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(OP + registered("Autograd"), Side.KERNEL, id="an op that returns a new tensor"),
        pytest.param(IN_PLACE + registered("Autograd", "scale_"), Side.BELOW_AUTOGRAD, id="an in-place op"),
        pytest.param(
            OP + 'TORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("view", scale); }', Side.BELOW_AUTOGRAD, id="a view op"
        ),
        pytest.param(
            IN_PLACE.replace("scale_", "scale__") + registered("Autograd", "scale__"), Side.KERNEL, id="a dunder"
        ),
        *(
            pytest.param(f"{OP}TORCH_LIBRARY(ns, m) {{ m.def({schema}); }}\n{registered('Autograd')}", side, id=schema)
            for schema, side in (
                ('"scale(Tensor(a) self) -> Tensor(a)"', Side.BELOW_AUTOGRAD),
                ('"ns::scale(Tensor x, Tensor(b!)? out) -> ()"', Side.BELOW_AUTOGRAD),
                ('"scale(Tensor! x, int n) -> ()"', Side.BELOW_AUTOGRAD),
                ('"scale(Tensor[] self, int[2] n) -> Tensor"', Side.KERNEL),
                ('"rescale(Tensor(a) self) -> Tensor(a)"', Side.KERNEL),
                ('"scale.out(Tensor x, Tensor(a!) out) -> Tensor(a!)"', Side.KERNEL),
            )
        ),
    ],
)
def test_an_in_place_or_view_op_is_below_autograd(text: str, expected: Side) -> None:
    (found,) = [s for s in signals_of_use(snippet(text)) if s.kind.name == "registered-under-autograd"]
    assert found.side is expected


def test_a_registration_in_another_file_is_found_and_is_where_the_evidence_points() -> None:
    (found,) = [s for s in signals_of_use(snippet(OP, registered("Autograd"))) if s.weight is Weight.DECISIVE]
    assert (found.path, found.row, found.message) == (
        "other1.cpp",
        1,
        "`scale` is registered under Autograd for `scale`",
    )
    assert found.evidence().signal == "registered-under-autograd"


def test_only_the_sides_that_are_asked_for_are_looked_for() -> None:
    found = snippet(body("GUARD; optimizer.step(); return module.forward({x});"))
    scene = scene_of(found.project, found.facts, found.use())
    assert [s.kind.name for s in direct_signals(scene, (Side.INFERENCE,))] == ["runs-model"]
    assert [s.kind.name for s in direct_signals(scene, (Side.AGAINST_INFERENCE,))] == ["trains"]
    assert direct_signals(scene, (Side.KERNEL,)) == []


def test_against_inference_is_no_context() -> None:
    assert Side.AGAINST_INFERENCE.context is None
    assert [side.context.value for side in Side if side.context is not None] == [
        "kernel",
        "below_autograd",
        "inference",
        "remove",
    ]


# -- the registry


class NoProject:
    """Knows nothing; asking it is an error."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"`project.{name}` is looked at by a kind that does not say `asks_project`")


def test_what_looks_at_the_project_says_so() -> None:
    for _, text, *_ in CASES:
        found = snippet(text)
        scene = scene_of(found.project, found.facts, found.facts.guard_uses[0])
        alone = replace(scene, project=NoProject())  # type: ignore[arg-type]
        for kind in signal_kinds():
            if kind.find is not None and not kind.asks_project:
                assert list(kind.find(alone, signals_at)) == list(kind.find(scene, signals_at)), kind.name


def test_kinds_come_by_side_and_what_callers_say_comes_last_of_its_side() -> None:
    families = [kind.side.value.replace("below_autograd", "kernel") for kind in signal_kinds()]
    assert list(dict.fromkeys(families)) == ["kernel", "inference", "remove", "against_inference"]
    assert sorted(families, key=list(dict.fromkeys(families)).index) == families
    for side in ("kernel", "inference"):
        asked = [kind.find is None for kind, family in zip(signal_kinds(), families, strict=True) if family == side]
        assert asked == sorted(asked)


def test_what_is_not_looked_for_beside_another_comes_after_it() -> None:
    kinds = signal_kinds()
    assert all(kinds.index(other) < kinds.index(kind) for kind in kinds for other in kind.unless)


def test_every_kind_says_what_it_means() -> None:
    assert [kind.name for kind in signal_kinds() if not kind.meaning or "\n" in kind.meaning] == []


def test_a_new_kind_is_found_by_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    from guardfix.linter.decision.signals import training_signals

    @signal("at-night", side=Side.REMOVE, weight=Weight.WEAK)
    def at_night(scene: object) -> list[object]:
        """the guard is written at night"""
        return []

    monkeypatch.setattr(training_signals, "at_night", at_night, raising=False)
    signal_registry.signal_kinds.cache_clear()
    try:
        assert at_night in signal_kinds()
        assert at_night.meaning == "the guard is written at night"
    finally:
        monkeypatch.undo()
        signal_registry.signal_kinds.cache_clear()
    assert at_night not in signal_kinds()


def test_two_kinds_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from guardfix.linter.decision.signals import training_signals

    second = SignalKind("runs-model", Side.REMOVE, Weight.WEAK, "another one")
    monkeypatch.setattr(training_signals, "runs_model", second, raising=False)
    signal_registry.signal_kinds.cache_clear()
    try:
        with pytest.raises(ValueError, match="runs-model"):
            signal_kinds()
    finally:
        monkeypatch.undo()
        signal_registry.signal_kinds.cache_clear()


@pytest.mark.parametrize(
    ("callee", "expected"),
    [
        pytest.param("a" * 60, "a" * 60, id="as long as may be"),
        pytest.param("a" * 30 + "b" * 31, "a" * 28 + " … " + "b" * 28, id="cut in the middle"),
    ],
)
def test_long_callees_are_cut(callee: str, expected: str) -> None:
    assert shown(callee) == expected


def test_messages_about_python_are_spelled_as_python() -> None:
    text = (
        "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        f"        with torch.{OLD}():\n            return x.relu()\n"
    )
    messages = [s.message for s in signals_of_use(snippet(text, path="ops.py", watched=()))]
    assert messages == ["is in `F.forward` of a torch.autograd.Function, which runs as an autograd kernel"]
