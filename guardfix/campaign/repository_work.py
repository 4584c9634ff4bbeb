"""One repository, looked at: its files checked out, checked, migrated, and everything written to a folder.

This is run in a process of its own (`contained_work`), whose end ends nothing else.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from guardfix.codemods.fixable import FixableReport, fixes_for
from guardfix.configuration import configuration_for, nearest_options
from guardfix.linter import engine
from guardfix.linter.engine import Options, found_files
from guardfix.output.format_registry import Output
from guardfix.output.sarif_format import FORMAT as SARIF

from .campaign_manifest import is_url
from .patch_series import PatchSeries
from .repository_commits import CheckedOut
from .repository_task import RepositoryTask
from .use_rows import finding_rows, use_rows

if TYPE_CHECKING:
    from guardfix.verify.judging.guard_outcomes import GuardOutcome

USES, FINDINGS = "uses.ndjson", "findings.ndjson"


def look_at(task: RepositoryTask, commit: str, scratch: Path, result: Path) -> dict[str, Any]:
    """Do everything that the task asks for, and write it to the folder `result`; the counts for its row.

    `scratch` is an empty folder for the repository's files. The working folder is theirs afterwards. Raises
    `NoRepository`, `BadConfiguration`, and what a check raises.
    """
    files = CheckedOut(scratch, task.entry.source, commit)
    os.chdir(files.tree)
    options = _options(task)
    paths = _paths(task, options)
    report = fixes_for(engine.check(paths, options), task.settings.choice)
    report.make_fixes()
    _write_sarif(report, task, files.commit, result / "findings.sarif")
    verdicts = list(_verdicts(task, report)) if task.settings.verify else []
    # The patches change the files: all that has their rows and columns is made before.
    uses, findings = list(use_rows(report, verdicts)), list(finding_rows(report))
    series = PatchSeries.of(report, files, result / "patches")
    rows = [one.with_patch(series) for one in uses]
    _write_rows(result / USES, rows)
    _write_rows(result / FINDINGS, [one.with_patch(series) for one in findings])
    return {
        "files": report.files,
        "missing_files": files.missing,
        "partly_parsed": len(report.partial),
        "uses": len(rows),
        "old_uses": sum(row["old"] for row in rows),
        "findings": len(findings),
        "patches": len(series.patches),
        "fixes": series.fixes,
    }


def _write_sarif(report: FixableReport, task: RepositoryTask, commit: str, path: Path) -> None:
    """Write the findings as they are everywhere: with the commit, and without the folder where it was checked out."""
    text = io.StringIO()
    SARIF.findings(report, Output(text))
    log = json.loads(text.getvalue())
    for run in log["runs"]:
        run["originalUriBaseIds"] = {
            base: {"description": {"text": "The top of the repository."}} for base in run["originalUriBaseIds"]
        }
        if is_url(task.entry.source) and "://" in task.entry.source:
            top = {"uriBaseId": next(iter(run["originalUriBaseIds"]))}
            provenance = {"repositoryUri": task.entry.source, "revisionId": commit, "mappedTo": top}
            run["versionControlProvenance"] = [provenance]
    path.write_text(json.dumps(log, indent=2), encoding="utf-8", errors="backslashreplace")


def _options(task: RepositoryTask) -> Options:
    """What is in force in the repository, which is the working folder."""

    def limited(options: Options) -> Options:
        return replace(options, workers=1, timeout_per_file=task.settings.timeout_per_file)

    if task.configuration is not None:
        return limited(task.configuration.options())
    options = limited(configuration_for().without_plugins().options())  # a repository names no code
    return replace(options, nearest=nearest_options(lambda other: limited(other.options()), {}, options))


def _paths(task: RepositoryTask, options: Options) -> list[str]:
    """The files of the task's shard; the whole repository where there is one."""
    shards = task.entry.shards
    if not isinstance(shards, int):
        # What is a link out of the repository isn't the repository's.
        here = os.path.realpath(os.curdir)
        inside = [path for path in shards[task.shard] if Path(os.path.realpath(path)).is_relative_to(here)]
        return [path for path in inside if os.path.exists(path)]
    if shards == 1:
        return ["."]
    # Neighbours stay together: what they say of each other is read once.
    found = sorted(found_files(["."], options))
    size, more = divmod(len(found), shards)
    start = task.shard * size + min(task.shard, more)
    return found[start : start + size + (task.shard < more)]


def _verdicts(task: RepositoryTask, report: FixableReport) -> Iterator[GuardOutcome]:
    """What programs, or the tests, of the repository say about each migrated guard."""
    from guardfix.verify.judging.guard_outcomes import guard_outcomes
    from guardfix.verify.judging.verdicts import VerificationFailed
    from guardfix.verify.program_copies import Settings
    from guardfix.verify.programs.program_discovery import find_programs, with_builds
    from guardfix.verify.programs.program_migration import migrate
    from guardfix.verify.projects.project_tests import TestSettings, verify_project_tests
    from guardfix.verify.runs.program_runs import Limits
    from guardfix.verify.verifying import verify

    migration = migrate(report, embedded=True)
    if not any(site.changed for site in migration.sites):
        return
    seconds = task.limits.seconds
    try:
        if task.entry.test:
            settings = TestSettings(task.entry.test, task.entry.test_build or None, seconds=seconds / 4)
            yield from verify_project_tests(Path("."), migration, settings).outcomes
            return
        programs = with_builds(find_programs(["."]), (), ())
        limits = Limits(min(60.0, seconds / 4), task.limits.megabytes << 20)
        results = list(verify(programs, migration, Settings(limits=limits)))
    except VerificationFailed as error:
        yield from (_unverified(site, str(error)) for site in migration.sites if site.changed)
        return
    yield from guard_outcomes(migration.sites, [one.reach for one in results if one.is_program])


def _unverified(site: Any, reason: str) -> GuardOutcome:
    from guardfix.verify.judging.guard_outcomes import GuardOutcome
    from guardfix.verify.judging.verdicts import Verdict

    return GuardOutcome(site, Verdict.UNSUPPORTED, reason)


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n" for row in rows)
