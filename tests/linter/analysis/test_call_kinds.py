"""What a call is: loading a model, running one, computing tensors, or nothing of it."""

from __future__ import annotations

import pytest

from guardfix.linter.analysis.calls import computes_nothing, computes_tensors, is_load, is_run
from guardfix.linter.files.sources import decode
from guardfix.linter.frontends.cpp.cpp_extraction import extract_cpp

LOAD, RUN, TENSORS, NOTHING = "load", "run", "tensors", "nothing"
KINDS = {LOAD: is_load, RUN: is_run, TENSORS: computes_tensors, NOTHING: computes_nothing}

CALLS = [
    ("torch::jit::load(p)", {LOAD}),
    ("::torch::load(x, p)", {LOAD}),
    ("load(p)", set()),
    ("std::load(p)", {NOTHING}),
    ("yaml.load(p)", set()),
    ("model.forward(x)", {RUN, TENSORS}),
    ("(*model_).run(x)", {RUN, TENSORS}),
    ("this->net->predict(x)", {RUN, TENSORS}),
    ("std::move(model).predict(x)", {RUN, TENSORS}),
    ("models[0].predict(x)", set()),
    ("net(x)", {RUN, TENSORS}),
    ("net<float>(x)", set()),
    ("ns::net(x)", set()),
    ("buildModel(x)", set()),
    ("Module(x)", set()),
    ("runner.run(x)", set()),
    ("ctx->forward(x)", {NOTHING}),
    # Parts of a model, models that are Python objects, runners; and what is only called so.
    ("model_->forward_encoder(x)", {RUN, TENSORS}),
    ("net->forwardBatch(x)", {RUN, TENSORS}),
    ("conv.forward_cuda(x)", set()),
    ("std::forward_as_tuple(x)", {NOTHING}),
    ('model.attr("forward")(x)', {RUN, TENSORS}),
    ('session.self.attr("__call__")(x)', {RUN, TENSORS}),
    ('module.attr("weight")(x)', set()),
    ('module.get_method("f")(x)', set()),
    ("populate_model(x)", set()),
    ("encoder_({x}).toTensor()", {RUN, TENSORS}),
    ("(*scorer)({x, y}).toTuple()", {RUN, TENSORS}),
    ("encoder_(x).toTensor()", {TENSORS, NOTHING}),
    ("ns::encode({x}).toTensor()", {TENSORS, NOTHING}),
    ("outputs.toTensor()", {TENSORS, NOTHING}),
    ("program->load_method(x)", {LOAD}),
    ("model_.acquireSession(x)", {LOAD}),
    ("torch::pickle_load(x)", {LOAD}),
    # Building an object of the program's own is work.
    ("std::make_unique<Holder>(x)", set()),
    ("std::make_shared<std::vector<int>>(x)", {NOTHING}),
    ("std::make_unique<at::Tensor>(x)", {NOTHING}),
    ("x.unsafeGetTensorImpl()", {NOTHING}),
    ("torch::mm(x, y)", {TENSORS}),
    ("at::native::add<float>(x)", {TENSORS}),
    ("at::get_num_threads()", set()),
    ("torch::Device(x)", set()),
    ("x.add_(y)", {TENSORS}),
    # What the standard library hands on is the caller's; what is its own computes nothing.
    ("std::move(x).add_(y)", {TENSORS}),
    ("std::get<0>(x).softmax(1)", {TENSORS}),
    ("std::chrono::steady_clock::now().time_since_epoch()", {NOTHING}),
    ("std::make_tuple(x)", {NOTHING}),
    ("ctx->save_for_backward(x)", {NOTHING}),
    ('ctx->saved_data["k"].toCustomClass(x)', {NOTHING}),
    ("context->enqueueV2(x)", set()),
    ("ctx->execute()", set()),
    ("x.size(0)", {NOTHING}),
]


@pytest.mark.parametrize(("written", "kinds"), CALLS, ids=[row[0] for row in CALLS])
def test_kinds(written: str, kinds: set[str]) -> None:
    facts = extract_cpp(decode(f"void f() {{ at::NoGradGuard g; {written}; }}".encode(), "f.cpp"))
    outermost = max(facts.calls, key=lambda call: call.span.end - call.span.start)
    assert {kind for kind, test in KINDS.items() if test(outermost)} == kinds


def test_a_template_in_front_is_no_name_of_the_call() -> None:
    facts = extract_cpp(decode(b"void f() { at::NoGradGuard g; ns::Op<float>::apply(x); }", "f.cpp"))
    (call,) = facts.calls
    assert (call.name, call.path, call.receiver) == ("apply", ("ns", "Op", "apply"), None)
