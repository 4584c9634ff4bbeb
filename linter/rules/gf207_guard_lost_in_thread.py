"""GF207 guard-lost-in-thread: a guard has no effect in the threads that its scope starts.

What it flags: a lambda passed to `std::thread`, `std::async`, a thread pool, `at::parallel_for`, `dispatch_async`,
`QtConcurrent::run`, an algorithm with `std::execution::par` and the like within the scope of a guard, queued as a
continuation (`then`, `addCallback`), or kept by a web server as a handler, if the lambda, or what it calls, computes
tensors and has no guard. Also a block below `#pragma omp parallel`, and a function that is started by its name, such as
`std::thread(&Server::run, this)` in a guarded constructor, or by `pthread_create`. The guard may stand in a function
that calls the one that starts the thread.

In Python, a function given to `threading.Thread`, a `Timer`, a `ThreadPoolExecutor`, a `ThreadPool`,
`loop.run_in_executor`, `asyncio.to_thread` or `run_in_threadpool` while `no_grad`, `inference_mode` or
`set_grad_enabled(False)` is on, here or in a caller, if it runs a model, or computes with what requires a gradient,
without a guard of its own. A `Thread` counts where it is started.

Why it is bad: grad mode, inference mode and the dispatch keys are thread-local. A new thread starts in normal mode,
whatever the mode of its parent: it records gradients, or modifies an inference tensor in place and raises an error.
Which of these happens can depend on whether the work fits into the calling thread.

Example:

    c10::InferenceMode guard;
    std::thread worker([&] { output = model->forward(input); });

and in Python:

    with torch.no_grad(), ThreadPoolExecutor() as executor:
        outputs = list(executor.map(model, batches))

Use instead:

    std::thread worker([&] {
      c10::InferenceMode guard;
      output = model->forward(input);
    });

and in Python:

    @torch.no_grad()
    def predict(batch):
        return model(batch)

    with ThreadPoolExecutor() as executor:
        outputs = list(executor.map(predict, batches))

Fix: unsafe. The guard is repeated at the top of the lambda or function; in Python there is no fix. Under
`InferenceMode`, what it makes there are inference tensors, and an in-place operation on one raises an error once it is
used outside.

Not flagged: `at::launch` and `at::wrapPropagateTLSState`, which pass the state on; a lambda that contains a guard,
`at::ThreadLocalStateGuard`, `set_enabled`, or an object that may hold a guard; `std::launch::deferred`, which runs
where the result is requested; TorchScript's fork, which passes the state on; guards with a run-time flag; tensors that
are only made from data; in Python, pools whose `initializer` sets the mode, processes, and methods that have a guard of
their own, such as `model.generate`.

Limits: in C++, what starts a thread is known by its name, or by the type of the pool or container. Calls are followed
six deep.

When not to use it: code whose thread pool passes the state on by itself (`at::ThreadLocalState`).

Seen in public code: https://github.com/pytorch/pytorch/issues/28370 (a kernel of PyTorch itself, above a certain size),
https://github.com/pytorch/pytorch/issues/20528.

References: ATen/Parallel.h ("parallel_for does NOT copy thread local states"); ATen/ThreadLocalState.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..facts import Facts
from ..findings import Applicability, Finding
from ..flow.events import Event, EventKind
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF207",
    "guard-lost-in-thread",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    languages=("cpp", "python"),
    odd_uses_only=True,
)


@RULE.check_event(EventKind.THREAD)
def handed_over(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    guard = event.guard
    assert guard is not None
    where = f"of line {facts.row(guard.span.start)}" if guard.path == facts.path else f"of {guard.path}"
    subject = f"`{event.variable}`" if event.variable else "what it runs"
    message = f"{event.what}, where {guard.name} {where} has no effect: guards are thread-local; set one in {subject}"
    yield RULE.at_event(event, facts, project, message)
