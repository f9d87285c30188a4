"""Resolve the lock for each Python that it is for, and run the tests on each that is there.

    python tests/interpreters.py [words for pytest ...]

Writes the block ``interpreters`` of docs/artifact.md. The environments are ``.venv-test-VERSION``.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dpbandits.pages.regions import with_region

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/artifact.md"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
LOCKS = ("requirements.lock", "requirements-test.lock")
SHARED = ("-n", str(os.cpu_count()), "--dist", "loadfile")
NOT_PRESENT = "no such interpreter was present"


def resolved(version: str, lock: str) -> str:
    """Return how many packages a lock has for a Python, all with the lock's hashes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "resolved.txt"
        command = ["uv", "pip", "compile", "--quiet", "--generate-hashes", "--no-header"]
        words = [*command, "--python-version", version, lock, "-o", str(out)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            return "does not resolve"
        pins = set(re.findall(r"^[a-z0-9._-]+==[^ ;\\]+", out.read_text(), re.MULTILINE))
    locked = (ROOT / lock).read_text()
    if any(not re.search(rf"^{re.escape(pin)}[ ;]", locked, re.MULTILINE) for pin in pins):
        return "resolves to other versions"
    return f"{len(pins)} packages"


def interpreter(version: str) -> str | None:
    """Return a Python of a version that starts, or None: a name on the path may be a stand-in."""
    found = shutil.which(f"python{version}")
    if found is None or subprocess.run([found, "--version"], capture_output=True).returncode:
        return None
    return found


def tested(version: str, tests: list[str]) -> str:
    """Return how the tests came out on an interpreter, or that it is not there."""
    python = interpreter(version)
    if python is None:
        return NOT_PRESENT
    folder = f".venv-test-{version}"
    subprocess.run(["make", f"PYTHON={python}", f"{folder}/installed"], cwd=ROOT, check=True)
    own = ROOT / folder / "bin"
    words = [str(own / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", *SHARED, *tests]
    path = os.pathsep.join([str(own), os.environ["PATH"]])
    variables = os.environ | {"PATH": path}
    done = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True)
    print(done.stdout[-2000:], file=sys.stderr)
    counts = re.findall(r"\d+ (?:passed|failed|error|skipped)\w*", done.stdout.rpartition("\n=")[2])
    shown = ", ".join(counts) or f"ended with status {done.returncode}"
    exact = subprocess.run([python, "--version"], capture_output=True, text=True).stdout.strip()
    return f"{exact}: {' '.join(tests) or 'all tests'}: {shown}"


def main(tests: list[str]) -> int:
    """Write the table; fail where a lock does not resolve or a test fails."""
    if shutil.which("uv") is None:
        print("uv is not on the path; allowed: as by `make interpreters`", file=sys.stderr)
        return 2
    lines = [
        "| Python | `requirements.lock` | `requirements-test.lock` | tests |",
        "|---|---|---|---|",
    ]
    for version in VERSIONS:
        cells = [version, *(resolved(version, lock) for lock in LOCKS), tested(version, tests)]
        lines.append(f"| {' | '.join(cells)} |")
    text = with_region(PAGE.read_text(encoding="utf-8"), "interpreters", "\n".join(lines))
    PAGE.write_text(text, encoding="utf-8")
    print("\n".join(lines))
    wrong = ("does not", "other versions", "failed", "error", "ended with")
    return 1 if any(word in line for line in lines for word in wrong) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
