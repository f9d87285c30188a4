"""Print the last lines of the logs of every job that failed, as told by the workflow's own log.

A job that was tried again and came through is not among them. Usage: last_lines.py WORKFLOW.log
"""

import re
import sys
from pathlib import Path

LINES = 30
"""Snakemake itself ends the log of a job with twenty lines that say only that it failed."""
MARK = " (check log file(s) for error details)"


def failed_jobs(text: str) -> dict[str, tuple[str, list[str]]]:
    """Return number of a job -> its rule and its logs, of the jobs whose last attempt failed."""
    failed: dict[str, tuple[str, list[str]]] = {}
    rule, job = "", ""
    for line in text.splitlines():
        if found := re.match(r"Error in (?:rule|group job) (\S+?):", line):
            rule, job = found[1], ""
        elif found := re.match(r"Finished jobid: (\d+)", line):
            failed.pop(found[1], None)
        elif rule and (found := re.match(r" +jobid: (\d+)", line)):
            job = found[1]
            failed[job] = (rule, [])
        elif job and (found := re.match(r" +log: (.*)", line)):
            failed[job] = (rule, found[1].removesuffix(MARK).split(", "))
        elif not line.startswith(" "):
            rule, job = "", ""
    return failed


def last_lines(path: Path) -> list[str]:
    """Return the last lines of a log; one that says so where it is missing."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES:]
    except OSError:
        return ["(no such file)"]


def main(path: str) -> None:
    """Print what there is to tell."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    for rule, logs in failed_jobs(text).values():
        print(f"\n{rule} failed:", file=sys.stderr)
        for log in logs:
            print(f"  {log}", file=sys.stderr)
            for line in last_lines(Path(log)):
                print(f"    {line}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
