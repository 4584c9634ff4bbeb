"""Runs statements on states: every path that conditions leave open, a few at a time.

A path ends where PyTorch or the program raises. Paths that come to the same state become one; of more than
`MOST_STATES` the rest is dropped, which loses events and makes none (Infer's Pulse bounds its disjuncts so).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..facts import Span
from ..facts.bodies import (
    AnyStatement,
    Assign,
    Block,
    Body,
    Declaration,
    Define,
    Delete,
    Evaluate,
    If,
    Import,
    Leave,
    Loop,
    Raise,
    ReturnStatement,
    Try,
)
from ..facts.expressions import (
    Bracketed,
    Expression,
    Operation,
    simple_name,
)
from . import (
    assignments,
    calling,
    cpp_values,
    elements,
    entered_blocks,
    evaluation,
    generators,
    guards_entered,
    held_guards,
    left_attributes,
    loops,
    model_training,
    tensors,
    try_statements,
    unnoticed,
)
from .defined_modules import DefinedModules
from .events import Event, EventKind
from .kept_results import KeptResults
from .paths import PathOutcome, Place, Results
from .program import File, ProjectCode
from .state import State
from .values import (
    NONE,
    Cached,
    ClassValue,
    Closure,
    Const,
    GuardValue,
    Instance,
    Items,
    Method,
    Modes,
    Plain,
    Recorded,
    Ref,
    Step,
    Tensor,
    Thing,
    Traced,
    Truth,
    Value,
)

MOST_STATES = 4
"""Paths that are followed at one point."""
MOST_DULL = 2
"""Of these, those on which nothing that a rule would tell is on the way."""
STEP_BUDGET = 500
"""Statements that one root may run. Those of what it calls count more, the further away the more."""


class Exhausted(Exception):
    """A root's budget is exhausted: what it has found so far holds."""


class Machine:
    """One run over a program."""

    def __init__(self, program: ProjectCode) -> None:
        self.program = program
        self.events: dict[tuple[EventKind, str, Span, str], Event] = {}
        """By kind, place, and what else tells one from another."""
        self.trained: set[tuple[int, int]] = set()
        self.fills: dict[int, dict[str, Tensor]] = {}
        """For each class (its body's id), the attributes that a condition fills under inference mode."""
        self.fills_by_others: dict[tuple[int, int], tuple[int, dict[str, Tensor]]] = {}
        """The same, where other functions run the object: for each such object, with its class."""
        self.left = left_attributes.LeftAttributes()
        self.kept = KeptResults()
        self.root: Body | None = None
        self.testing = False
        self.exhausted: dict[tuple[str, Span], None] = {}
        """The functions and modules whose budget ended, by their places."""
        self.modules = DefinedModules(self)
        self.receivers: dict[int, tuple[State, Ref]] = {}
        """For each class (its body's id), an object of it as `__init__` leaves it."""
        self.most_states = MOST_STATES
        self.dropped = False
        """Paths of this root were dropped."""
        self.recorded: list[Recorded] | None = None
        self.traced: list[Traced] | None = None
        self.watches = False
        self.gives_gradients = False
        self._steps = 0.0

    # -- events

    def report(
        self,
        kind: EventKind,
        state: State,
        place: Place,
        *,
        variable: str,
        what: str,
        steps: tuple[Step, ...],
        guard: GuardValue | None,
        cached: Cached | None = None,
        presumed: str = "",
        doubt: str = "",
        brought_by: Step | None = None,
        at: tuple[str, Span] | None = None,
    ) -> None:
        if state.shielded:
            return
        path, span = at or (place.file.path, place.span)
        if not doubt:
            doubt = next(iter(sorted(state.doubts)), "")
        if not doubt and len(state.choices) > 1:
            doubt = "it happens only if several conditions come together"
        if kind in _UNDER_A_GUARD and guard in state.opened:
            brought_by = guards_entered.bringing_call(guard, place, self.root)
        told = Event(kind, not doubt, path, span, variable, what, steps, guard, cached, presumed, doubt, brought_by)
        key = (kind, path, span, what if kind is EventKind.MODEL_SHARED else "")
        known = self.events.get(key)
        if known is None or (told.certain, brought_by is None) > (known.certain, known.brought_by is None):
            self.events[key] = told

    def stored(self, holder: Ref, name: str, value: Value, state: State, place: Place) -> None:
        """A value is stored in an attribute of an object."""
        tensor = state.tensor(value)
        if tensor is None or not place.conditional or tensor.inference is not True or not tensor.shown:
            return
        assert isinstance(value, Ref)
        by_others = holder.number != state.receiver
        if by_others and self.testing:
            return
        cached = Cached(place.file.path, place.span, f"self.{name}", place.body.name, by_others)
        state.change(value, cached=cached)
        thing = state.thing(holder)
        if isinstance(thing, Instance) and thing.cls is not None:
            class_ = id(thing.cls.body)
            part = state.part_of_receiver(holder.number) if by_others else None
            if part is not None:
                _, filled = self.fills_by_others.setdefault(part, (class_, {}))
            elif not by_others:
                filled = self.fills.setdefault(class_, {})
            else:
                return
            filled.setdefault(name, tensor._replace(cached=cached, name=cached.shown))

    # -- roots

    def run_module(self, file: File) -> None:
        if file.module is None:
            return
        self.testing = file.is_test
        state = self.modules.state()
        frame = state.enter_frame()
        place = Place(file, file.module, frame, file.module.span)
        state.names(frame)["<module>"] = Const(file.path)
        statements = file.module.statements

        def run() -> None:
            for outcome in self.run(statements, state, place):
                model_training.tell_shared(self, outcome.state, place)

        self.run_root(run, file, file.module)

    def run_function(self, file: File, body: Body, closure: Callable[[State], Closure | None]) -> None:
        """Run a function as its callers may: with arguments of which nothing is known."""
        self.testing = file.is_test
        state = self.modules.state() if file.language == "python" else State()

        def run() -> None:
            found = closure(state)
            self.begin()  # what was run to make the object doesn't count
            if found is not None:
                calling.call_root(self, found, state, file)

        self.run_root(run, file, body)

    def begin(self) -> None:
        """Begin a budget again."""
        self._steps = STEP_BUDGET

    def run_root(self, run: Callable[[], object], file: File, body: Body) -> None:
        self.begin()
        outer, self.root = self.root, body
        try:
            run()
        except (Exhausted, RecursionError):
            self.exhausted[file.path, body.header] = None
        finally:
            self.root = outer

    def attributes_before(self, closure: Closure, state: State, place: Place) -> dict[str, tuple[Value, Thing | None]]:
        """The attributes of its object that a method writes; C++'s members exist before anything reads them."""
        receiver, holder = closure.receiver, state.thing(closure.receiver)
        if receiver is None or not isinstance(holder, Instance) or holder.cls is None:
            return {}
        written = left_attributes.written_in(closure.body, holder.cls.body)
        for name in written if place.file.language != "python" else ():
            current = state.thing(receiver)
            assert isinstance(current, Instance)
            cpp_values.member_of(self, receiver, current, name, state, place)
        return left_attributes.attributes_at(written, receiver, state)

    def attributes_behind(
        self, closure: Closure, before: Mapping[str, tuple[Value, Thing | None]], outcomes: Sequence[PathOutcome]
    ) -> None:
        """What the method has left in them."""
        self.left.note(closure, before, outcomes)

    # -- paths

    def joined(self, states: Iterable[State], place: Place) -> list[State]:
        """The states, each once. What two that are the same have taken different sides of is no choice any more."""
        states = list(states)
        if len(states) == 1:
            return states
        found: dict[tuple[object, ...], State] = {}
        for state in states:
            if _is_dull(state):
                # What was chosen before anything is on the way decides nothing of what a rule tells.
                state.choices = frozenset()
            key = state.outline(place.frame)
            known = found.get(key)
            if known is None:
                found[key] = state
            else:
                known.take(state)
        return self._few(list(found.values()))

    def _few(self, states: list[State]) -> list[State]:
        """The states that are followed further, first those in which something may be reported."""
        if len(states) <= MOST_DULL:
            return states
        telling = [state for state in states if not _is_dull(state)]
        kept = [*telling[: self.most_states], *(state for state in states if _is_dull(state))][
            : max(len(telling), MOST_DULL)
        ]
        self.dropped = self.dropped or len(kept) < len(states)
        return kept[: self.most_states]

    def joined_outcomes(self, outcomes: list[PathOutcome], place: Place) -> list[PathOutcome]:
        going = [outcome.state for outcome in outcomes if outcome.kind == "next"]
        others = [outcome for outcome in outcomes if outcome.kind != "next"]
        if len(others) > MOST_DULL:
            kept = set(map(id, self._few([outcome.state for outcome in others])))
            others = [outcome for outcome in others if id(outcome.state) in kept]
        return [*(PathOutcome(state, "next") for state in self.joined(going, place)), *others]

    def assume(self, state: State, truth: Truth | Value, side: bool) -> State | None:
        """The state in which a condition has come out so; None where it can't. The state given is used up."""
        known = self.truth(state, truth)
        if known is not None:
            return state if known is side else None
        if isinstance(truth, Truth):
            state.facts[truth.key] = side is not truth.negated
        elif isinstance(truth, (Ref, Plain)):
            state.facts["truth", truth] = side
        return state

    def truth(self, state: State, value: Value) -> bool | None:
        """Whether a value counts as true, as far as it is known on this path."""
        if isinstance(value, Const):
            return bool(value.value)
        if isinstance(value, Truth):
            known = state.facts.get(value.key)
            return None if known is None else known is not value.negated
        if isinstance(value, Plain):
            return state.facts.get(("truth", value))
        if isinstance(value, Ref):
            thing = state.thing(value)
            if isinstance(thing, Items) and thing.rest is None:
                return bool(thing.values)
            if isinstance(thing, Instance) and thing.cls is not None and not thing.cls.body.bases:
                return True
            return state.facts.get(("truth", value))
        if isinstance(value, (Closure, ClassValue, Method, GuardValue)):
            return True
        return None

    def branches(self, condition: Expression | None, state: State, place: Place) -> tuple[list[State], list[State]]:
        """The states in which a condition holds, and those in which it doesn't."""
        if condition is None:
            return [state], []
        if isinstance(condition, Bracketed) and len(condition.items) == 1 and condition.brackets == "()":
            return self.branches(condition.items[0], state, place)
        if isinstance(condition, Operation):
            if condition.operator in ("not", "!") and len(condition.operands) == 1:
                then, otherwise = self.branches(condition.operands[0], state, place)
                return otherwise, then
            if condition.operator in ("and", "&&", "or", "||"):
                both = condition.operator in ("and", "&&")
                going, left = [state], []
                for operand in condition.operands:
                    asked, going = going, []
                    for one in asked:
                        then, otherwise = self.branches(operand, one, place)
                        going += then if both else otherwise
                        left += otherwise if both else then
                return (going, left) if both else (left, going)
        then, otherwise = [], []
        for after, value in self.evaluate(condition, state, place):
            known = self.truth(after, value)
            if known is None and place.file.language != "python":
                known = tensors.is_there(after.thing(value))
            if known is not None:
                (then if known else otherwise).append(after)
                continue
            other = after.fork()
            choice = value.key if isinstance(value, Truth) else (place.file.path, place.span, str(condition))
            for one, side, states in ((after, True, then), (other, False, otherwise)):
                assumed = self.assume(one, value, side)
                if assumed is not None:
                    assumed.choices |= {(choice, side)}
                    states.append(assumed)
        return then, otherwise

    # -- what the parts do, each as a method

    each = evaluation.each
    evaluate = evaluation.evaluate_expression
    bind = assignments.bind
    name_thing = assignments.name_thing
    call_value = calling.call_value
    call_closure = calling.call_closure
    call_method = calling.call_method
    attribute = elements.attribute
    set_attribute = elements.set_attribute
    element_of = elements.element_of
    parameter = cpp_values.parameter
    apply_decorator = calling.apply_decorator
    run_context = generators.run_context
    run_generator = generators.run_generator

    # -- statements

    def run(self, statements: Sequence[AnyStatement], state: State, place: Place) -> list[PathOutcome]:
        """What becomes of a state that runs a block; guards that C++ declares in it end with it."""
        depth = len(state.scoped)
        outcomes = self._run_all(statements, state, place)
        for outcome in outcomes:
            guards_entered.leave_scope(outcome.state, depth)
        return outcomes

    def _run_all(self, statements: Sequence[AnyStatement], state: State, place: Place) -> list[PathOutcome]:
        going: list[State] = [state]
        ended: list[PathOutcome] = []
        begun = state.choices
        for statement in statements:
            if not going:
                break
            here = place.at(statement.span)
            outcomes: list[PathOutcome] = []
            for one in going:
                # Where one path goes straight on, the work is no more than the text is long.
                straight = len(going) == 1 and not place.calls and not place.conditional
                self._steps -= 0.25 if straight else 1 + len(place.calls)
                if self._steps < 0:
                    raise Exhausted
                outcomes += self._run_one(statement, one, here)
            if len(outcomes) > 1:
                outcomes = self.joined_outcomes(outcomes, place)
            _forget_decided(outcomes, begun)
            going = [outcome.state for outcome in outcomes if outcome.kind == "next"]
            ended += [outcome for outcome in outcomes if outcome.kind != "next"]
        return [*(PathOutcome(one, "next") for one in going), *ended]

    def _run_one(self, statement: AnyStatement, state: State, place: Place) -> list[PathOutcome]:
        match statement:
            case Assign():
                return assignments.run_assignment(self, statement, state, place)
            case Evaluate():
                return self._evaluate_statement(statement, state, place)
            case If():
                return self._if(statement, state, place)
            case Loop():
                return loops.run_loop(self, statement, state, place)
            case Block():
                return entered_blocks.run_block(self, statement, state, place)
            case ReturnStatement():
                if statement.value is None:
                    return [PathOutcome(state, "return")]
                results = self.evaluate(statement.value, state, place)
                for after, value in results:
                    unnoticed.note_returned(self, value, after, place)
                return [PathOutcome(after, "return", value, statement.span) for after, value in results]
            case Raise():
                return [PathOutcome(state, "raise")]
            case Leave():
                return [PathOutcome(state, "break" if statement.word == "break" else "continue")]
            case Try():
                return try_statements.run_try(self, statement, state, place)
            case Define():
                return self._define(statement, state, place)
            case Import():
                self._import(statement, state, place)
            case Delete() if place.file.language != "python":
                deleted = self.each(statement.targets, state, place)
                for after, values in deleted:
                    for value in values:
                        held_guards.forget(value, after)
                return [PathOutcome(after, "next") for after, _ in deleted]
            case Delete():
                for target in statement.targets:
                    found = state.find(simple_name(target), place.frame)
                    if found is not None:
                        state.names(found[0]).pop(simple_name(target), None)
            case Declaration():
                for name in statement.names:
                    state.names(place.frame)["<outer>" + name] = NONE
        return [PathOutcome(state, "next")]

    def _evaluate_statement(self, statement: Evaluate, state: State, place: Place) -> list[PathOutcome]:
        value = statement.value
        if isinstance(value, Operation) and value.operator == "yield" and place.resumed is not None:
            given: Results = [(state, NONE)]
            if value.operands:
                given = self.evaluate(value.operands[0], state, place)
            return [outcome for one, yielded in given for outcome in place.resumed(one, yielded)]
        return [PathOutcome(after, "next") for after, _ in self.evaluate(value, state, place)]

    def _if(self, statement: If, state: State, place: Place) -> list[PathOutcome]:
        then, otherwise = self.branches(statement.condition, state, place)
        inside = place.in_branch()
        first = [outcome for one in then for outcome in self.run(statement.then, one, inside)]
        second = [outcome for one in otherwise for outcome in self.run(statement.otherwise, one, inside)]
        return [*first, *second]

    def _define(self, statement: Define, state: State, place: Place) -> list[PathOutcome]:
        body = place.body.inner[statement.body]
        results = calling.made(self, body, state, place)
        for after, value in results:
            after.names(place.frame)[body.name] = value
        return [PathOutcome(after, "next") for after, _ in results]

    def _import(self, statement: Import, state: State, place: Place) -> None:
        if statement.name == "*":
            return
        state.names(place.frame)[statement.name] = self.imported(statement.dotted, state, place.file)

    def imported(self, dotted: str, state: State, file: File) -> Value:
        return self.modules.imported(dotted, state, file)


_UNDER_A_GUARD = frozenset({EventKind.NOT_RECORDED, EventKind.GRADIENT_EXPECTED, EventKind.BACKWARD_IN_INFERENCE})
"""What depends on the guards that are open then."""


def _forget_decided(outcomes: list[PathOutcome], begun: frozenset[object]) -> None:
    """What only one side of is left, since the other has raised, is no choice: the program says that it must be so."""
    alive = [outcome.state for outcome in outcomes if outcome.kind != "raise"]
    decided = frozenset.intersection(*(state.choices for state in alive)) - begun if alive else frozenset()
    if decided:
        for state in alive:
            state.choices -= decided


def _is_dull(state: State) -> bool:
    """Whether nothing that a rule would tell is on the way in a state."""
    return not state.telling and state.modes == Modes()
