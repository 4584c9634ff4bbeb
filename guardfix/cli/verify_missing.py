"""`guardfix verify --missing`: what the files use of PyTorch that the shim lacks."""

from __future__ import annotations

from pathlib import Path

from ..output.format_registry import load_format
from ..output.json_text import json_text
from ..output.plain_echo import echo
from ..wording import count_of
from .command_failure import Failure
from .command_run import CommandRun
from .verify_running import VerifyOptions

_SHOWN = 3


def list_missing(run: CommandRun, options: VerifyOptions) -> int:
    """Writes the missing names; 0 when there is none, and every file compiles."""
    from guardfix.linter.files.discovery import NoSuchPath, find_files
    from guardfix.runtime_shim.cpp import CompilerOptions

    from ..verify.judging.verdicts import VerificationFailed
    from ..verify.programs.missing_names import check_files, names_by_use
    from ..verify.programs.program_discovery import CPP_SUFFIXES, is_main_file
    from ..verify.programs.project_builds import BadBuild, build_folders, read_builds

    compiling = CompilerOptions(
        include=tuple(Path(folder) for folder in options.include),
        define=options.define,
        standard=options.standard,
        compiler=options.compiler,
    )
    try:
        walk = find_files(
            run.paths, exclude=tuple(run.options.exclude), respect_gitignore=run.options.respect_gitignore
        )
        paths = sorted(path for path in walk.paths() if Path(path).suffix in CPP_SUFFIXES or path.endswith(".py"))
        roots = [path for path in map(Path, run.paths) if path.is_dir()]
        described = read_builds([*options.builds] or build_folders(roots), is_main_file)
        files = check_files(paths, described.by_file(), compiling)
    except NoSuchPath as error:
        raise Failure(f"no such file or directory: {error}") from None
    except (BadBuild, VerificationFailed) as error:
        raise Failure(str(error)) from None
    names = names_by_use(files)
    refused = [file for file in files if file.error]
    output = run.output()
    if load_format(options.output_format).for_machines:
        found = {"missing": names, "refused": {file.path: file.error for file in refused}, "files": len(files)}
        output.write(json_text(found, indent=2))
        return 1 if names or refused else 0
    for name, where in names.items():
        shown = ", ".join(where[:_SHOWN]) + (", …" if len(where) > _SHOWN else "")
        output.write(f"{name}: {count_of(len(where), 'file')} ({shown})")
    for file in refused:
        output.write(f"{file.path} does not compile: {file.error}")
    if not run.quiet:
        lacking, all_files = sum(bool(file.names) for file in files), count_of(len(files), "file")
        failed = f"{count_of(len(refused), 'file')} can't be checked, as {'it' if len(refused) == 1 else 'they'} "
        failed += f"{'does' if len(refused) == 1 else 'do'} not compile"
        if names:
            also = f"; {failed}" if refused else ""
            echo(f"{count_of(len(names), 'name')} missing, in {lacking} of {all_files} with torch{also}.", err=True)
        elif refused:
            echo(f"No name is known to be missing; of {all_files} with torch, {failed}.", err=True)
        else:
            echo(f"Nothing is missing: {all_files} with torch checked.", err=True)
    return 1 if names or refused else 0
