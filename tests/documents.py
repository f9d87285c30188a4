"""The documents for users, and what they tell a reader to type."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

DOCUMENTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "config/README.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ]
}
"""Path of each document -> its text."""

ON_RESULTS = ("compare", "draw", "explain", "judge", "digitised", "overlay", "run", "tabulate")
"""Commands that need results which are built, or build some."""

BY_ITSELF = (
    "audit",
    "cache",
    "check",
    "choose",
    "convert",
    "guarantee",
    "identify",
    "list",
    "simulate",
)
"""Commands that need nothing, or what is published alone."""


def blocks(language: str) -> list[tuple[str, str]]:
    """Return (document, text) of every fenced block of a language."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return [(name, block) for name, text in DOCUMENTS.items() for block in pattern.findall(text)]


def shell_lines() -> list[tuple[str, str]]:
    """Return (document, command) of every line of the shell blocks, comments left out."""
    lines = []
    for name, block in blocks("sh"):
        for line in block.replace("\\\n", " ").splitlines():
            command = shlex.join(shlex.split(line, comments=True))
            lines += [(name, command)] if command else []
    return lines


def inline_commands(program: str) -> list[tuple[str, str]]:
    """Return (document, command) of every command of a program that stands in running text.

    Those with a placeholder in capitals (``explain CLAIM``) are names of commands, not commands.
    """
    found = []
    for name, text in DOCUMENTS.items():
        outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        for command in re.findall(rf"`({program} [^`]+)`", outside):
            words = shlex.split(command)
            if not any(re.fullmatch(r"[A-Z]{4,}|\.\.\.", word) for word in words):
                found.append((name, " ".join(command.split())))
    return found


def dpbandits_commands(names: tuple[str, ...]) -> list[str]:
    """Return every command ``dpbandits NAME ...`` of the documents, each once."""
    every = [*shell_lines(), *inline_commands("dpbandits")]
    own = [command for _, command in every if command.split()[0] == "dpbandits"]
    # A name alone that takes arguments is spoken of, not typed.
    alone = {"dpbandits " + name for name in (*ON_RESULTS, "simulate", "identify")}
    return list(dict.fromkeys(c for c in own if c.split()[1] in names and c not in alone))
