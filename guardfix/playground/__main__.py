"""The process that checks what is pasted: each line of standard input is a question in JSON, each of output an answer.

It is its own process so that it can be stopped, and its memory limited, whatever is pasted.
"""

from __future__ import annotations

import json
import os
import sys

from .pasted_code import pasted_answer


def limit_memory() -> None:
    """Take no more than this, where the system has such limits."""
    try:
        import resource
    except ImportError:
        return
    megabytes = int(os.environ.get("GUARDFIX_PLAYGROUND_MEMORY", "3072"))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = megabytes << 20
    resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))


def answer_questions() -> None:
    """Answer questions until standard input ends."""
    limit_memory()
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    sys.stdout = sys.stderr  # nothing else that is printed may pass for an answer
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = pasted_answer(question["text"], question["language"], unsafe=question["unsafe"])
        except MemoryError:
            answer = {"error": "checking this takes more memory than the playground has"}
        except Exception as error:  # the page says it, and goes on
            answer = {"error": f"guardfix failed on this text: {type(error).__name__}: {error}"}
        output.write(json.dumps(answer) + "\n")
        output.flush()


if __name__ == "__main__":
    answer_questions()
