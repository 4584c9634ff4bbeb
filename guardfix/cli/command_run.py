"""A run of a command: its options joined with the configuration, and the check that they describe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from guardfix.linter.files.user_cache import own_folder, user_cache_folder
from guardfix.linter.files.workspace import DISK, Workspace

from ..configuration import (
    BadConfiguration,
    Configuration,
    configuration_for,
    inline_settings,
    nearest_options,
    read_configuration,
)
from ..output.format_registry import Output
from ..output.terminal_layout import has_links, terminal_width
from .lazy_click_errors import failure, usage_error
from .progress_line import shown_progress
from .standard_input import paths_and_text
from .stderr_notes import write_note

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from guardfix.codemods.apply.settling import Settled
    from guardfix.codemods.fixable import FixableReport
    from guardfix.linter.engine import Options, Report
    from guardfix.linter.rule import Rule


T = TypeVar("T", bound=Struct)


def options_in(kind: type[T], arguments: Mapping[str, Any]) -> T:
    """The options of one kind among the arguments of a command; one that the command doesn't have gets its default."""
    return kind(**{name: arguments[name] for name in kind.__struct_fields__ if name in arguments})


class SharedOptions(Struct, frozen=True):
    """What `selection`, `reading_limits` and `standard_input` give a command."""

    paths: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    extend_exclude: tuple[str, ...] = ()
    no_gitignore: bool = False
    force_exclude: bool = False
    project: str | None = None
    configs: tuple[str, ...] = ()
    isolated: bool = False
    no_plugins: bool = False
    jobs: int | None = None
    no_cache: bool = False
    include_docs: bool = False
    minimum_torch: str | None = None
    color: str = "auto"
    quiet: bool = False
    timeout_per_file: float | None = None
    reading_memory: int | None = None
    stdin_filename: str | None = None


class CommandRun(Struct, frozen=True):
    """What the shared options come to."""

    paths: tuple[str, ...]
    options: Options
    color: bool
    width: int | None
    """Columns of the terminal; None when the output goes elsewhere, where no line is broken."""
    quiet: bool
    configuration: str
    """The configuration file, or empty."""
    given: tuple[str, ...] = ()
    """The rules' selectors that are on the command line."""
    workspace: Workspace = DISK
    standard_input: bytes | None = None
    """What was read instead of a file, which is then the only path."""
    output_format: str = ""
    """The output format that the configuration asks for."""
    baseline: str = ""
    """The baseline that the configuration names."""
    executor: str = ""
    """Where files are read, if not by processes of this run."""

    def output(self) -> Output:
        """Standard output, as this run writes to it."""
        return Output(color=self.color, links=self.color and sys.stdout.isatty() and has_links(), width=self.width)

    def with_text(self, text: bytes) -> CommandRun:
        """The same run over another text than the one on standard input."""
        return replace(self, workspace=Workspace.over_disk({self.paths[0]: text}), standard_input=text)


def run_from(given: SharedOptions, *, reads_stdin: bool = False) -> CommandRun:
    """Join the shared options with the configuration. With `reads_stdin`, the path `-` is standard input."""
    select, ignore, extend = _split(given.select), _split(given.ignore), _split(given.extend_select)
    if given.select and not select:
        raise usage_error("--select is empty; leave it out to run the default rules")
    cache_folder = "" if given.no_cache else _own_cache()

    def changed(configuration: Configuration) -> Options:
        """What a configuration and the command line come to."""
        from guardfix.linter.rule import Selection

        configured = (configuration.without_plugins() if given.no_plugins else configuration).options()
        patterns = configured.patterns
        return replace(
            configured,
            layers=(*configured.layers, Selection(configured.select, configured.ignore, configured.extend_select)),
            select=select,
            ignore=ignore,
            extend_select=extend,
            exclude=(*given.exclude, *given.extend_exclude),
            patterns=patterns._replace(exclude=()) if given.exclude else patterns,
            respect_gitignore=configured.respect_gitignore and not given.no_gitignore,
            force_exclude=configured.force_exclude or given.force_exclude,
            include_docs=configured.include_docs or given.include_docs,
            minimum_torch=given.minimum_torch or configured.minimum_torch,
            project=given.project or "",
            workers=given.jobs or 0,
            cache_folder=cache_folder,
            timeout_per_file=given.timeout_per_file or 0.0,
            memory=given.reading_memory or 0,
        )

    configuration, options = _configured(given.configs, given.isolated, changed)
    paths, text = paths_and_text(given.paths, given.stdin_filename, reads_stdin=reads_stdin)
    return CommandRun(
        paths,
        options,
        _color(given.color),
        terminal_width(),
        given.quiet,
        configuration.path,
        (*select, *ignore, *extend),
        Workspace.over_disk({paths[0]: text}) if text is not None else DISK,
        text,
        configuration.output_format,
        configuration.baseline_path(),
    )


def _own_cache() -> str:
    """Where facts are kept; empty, with a note, where others could have put them there."""
    folder = own_folder("facts")
    if not folder:
        write_note(f"note: {user_cache_folder()}: others can write to this cache, so it isn't used")
    return folder


def _configured(
    configs: Sequence[str], isolated: bool, changed: Callable[[Configuration], Options]
) -> tuple[Configuration, Options]:
    """The configuration of the run, and what is in force for each file."""
    try:
        read = {text: inline_settings(text) for text in configs}
        inline = [settings for text in configs if (settings := read[text]) is not None]
        files = [text for text in configs if read[text] is None]
        if len(files) > 1:
            raise usage_error(f"--config takes one file, but {len(files)} were given: {', '.join(files)}")
        if isolated and files:
            raise usage_error("--isolated can't be combined with a file for --config")
        # As in Ruff: a file that is named starts from where it was named, one that was found from where it is.
        found = read_configuration(files[0]) if files else Configuration() if isolated else configuration_for()
        main = found.with_values(inline)
        options = changed(main)
        if files or isolated:
            return main, options
        nearest = nearest_options(lambda other: changed(other.with_values(inline)), {found.path: options}, options)
        return main, replace(options, nearest=nearest)
    except BadConfiguration as error:
        raise failure(str(error)) from None


def configured_rules() -> tuple[Rule, ...]:
    """The rules of the plugins that the configuration of the working folder names."""
    try:
        return configuration_for().options().rules
    except BadConfiguration as error:
        raise failure(str(error)) from None


def _split(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _color(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def check_with(run: CommandRun, at_first_hit: Callable[[], None] | None = None) -> Report:
    """Run the check, with a progress bar where a person is watching a long one."""
    from guardfix.linter.engine import check
    from guardfix.linter.files.discovery import BadPattern, NoSuchPath
    from guardfix.linter.rule import UnknownRule

    try:
        with _executor(run) as executor, shown_progress(run.quiet) as progress:
            return check(
                run.paths,
                run.options,
                workspace=run.workspace,
                executor=executor,
                progress=progress,
                at_first_hit=at_first_hit,
            )
    except NoSuchPath as error:
        raise failure(f"no such file or directory: {error}") from None
    except BadPattern as error:
        where = "--exclude" if str(error) in run.options.exclude else run.configuration or "the configuration"
        raise failure(f"{where}: `{error}` is not a pattern in .gitignore's syntax") from None
    except UnknownRule as error:
        from .command_failure import no_such_rule

        where = "" if str(error) in run.given else f"{run.configuration or 'the configuration'}: "
        raise failure(f"{where}{no_such_rule(str(error))}") from None
    except BadConfiguration as error:
        raise failure(str(error)) from None


@contextmanager
def _executor(run: CommandRun) -> Iterator[Executor | None]:
    """The executor that a run names; None where it names none."""
    if not run.executor:
        yield None
        return
    from ..campaign.campaign_executors import NoExecutor
    from ..campaign.shared_reading import UnfitWorker, reading_executor

    try:
        with reading_executor(run.executor, run.options.workers) as executor:
            yield executor
    except (NoExecutor, UnfitWorker) as error:
        raise failure(f"--executor: {error}") from None


def settled_with(report: FixableReport, run: CommandRun) -> Settled:
    """What becomes of the files, with a progress bar as in `check_with`."""
    from guardfix.codemods.apply.settling import settle

    with shown_progress(run.quiet, "making fixes") as progress:
        return settle(report, on_pass=progress.checking_again if progress is not None else None)


def finished(report: Report, status: int) -> int:
    """The exit status of a run: 2, and what happened, when processes were lost; `status` otherwise."""
    from ..output.report_summary import lost_workers

    for line in lost_workers(report):
        write_note(line)
    return 2 if report.lost else status
