"""docs/api.md, the reference of the Python interface, from the docstrings.

``python -m dpbandits.pages.api`` writes it; a test says when it is out of date.
"""

import ast
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import dpbandits
from dpbandits import privacy
from dpbandits.algorithms import base, noise
from dpbandits.bandits import draws
from dpbandits.engine.files import write_text
from dpbandits.errors import InputError

DOCUMENT = Path("docs/api.md")

SECTIONS: list[tuple[str, ModuleType, list[str]]] = [
    ("Simulate", dpbandits, ["simulate", "Simulation", "NashCurve"]),
    ("Identify the best arm", dpbandits, ["identify", "Identification"]),
    (
        "Instances",
        dpbandits,
        [
            "bernoulli",
            "truncated_exponential",
            "clipped_exponential",
            "uniform",
            "linear",
            "Bandit",
            "LinearBandit",
        ],
    ),
    ("User-defined algorithms", dpbandits, ["load_algorithm", "check_algorithm"]),
    ("Errors", dpbandits, ["InputError"]),
    ("Guarantees of algorithms", dpbandits, ["guarantee"]),
    ("Privacy", privacy, list(privacy.__all__)),
    (
        "Write an algorithm",
        base,
        [
            "Definition",
            "Algorithm",
            "IdentificationAlgorithm",
            "Task",
            "Outcome",
            "Trial",
            "Phase",
            "Chunk",
            "UNIFORM",
        ],
    ),
    ("Draw inside a kernel", draws, ["draw_reward", "draw_reward_sum"]),
    ("Draw noise", noise, ["laplace"]),
]
"""What the reference holds: heading, module, names."""

HEAD = """# Python interface

Written by `python -m dpbandits.pages.api` from the docstrings. How to use it is
in [usage.md](usage.md).
Whatever is out of range raises `dpbandits.InputError`, a `ValueError` of one line that names the
argument and what is allowed.
"""

_WIDTH = 100
"""Longest signature on one line."""

_FIELDS = ("Args", "Attributes", "Raises")
"""Sections of a docstring that are lists of names."""


def reference() -> str:
    """Return the whole document."""
    parts = [HEAD]
    for heading, module, names in SECTIONS:
        parts.append(f"## {heading}\n\nModule `{module.__name__}`.\n")
        for name in names:
            parts.extend(_entry(module, name))
    return "\n".join(parts)


def _entry(module: ModuleType, name: str) -> Iterator[str]:
    """Yield the paragraphs on one public name."""
    found = getattr(module, name)
    found = getattr(found, "py_func", found)
    qualified = f"{module.__name__}.{name}"
    if inspect.isclass(found):
        yield f"### class `{qualified}`\n"
        yield _described(found)
        yield from _members(found)
    elif inspect.isfunction(found):
        yield f"### `{qualified}`\n"
        yield _signature(found)
        yield _described(found)
    else:
        value, comment = _constant(module, name)
        yield f"### `{qualified} = {value}`\n"
        yield comment


def _members(kind: type) -> Iterator[str]:
    """Yield the public methods and properties that a class adds."""
    for name, member in vars(kind).items():
        read = getattr(member, "fget", None) or getattr(member, "func", None)
        plain = getattr(member, "__func__", member)
        if name.startswith("_"):
            continue
        if read is not None:
            returned = _parsed(read).returns
            yield f"#### `.{name}`: `{ast.unparse(returned) if returned else None}`\n"
            yield _described(read)
        elif inspect.isfunction(plain):
            yield f"#### `.{name}`\n"
            yield _signature(plain)
            yield _described(plain)


def _parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return the source of a function: types as they are written, whatever Python reads it."""
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _signature(function: Callable[..., Any]) -> str:
    """Return the call of a function with its types, as a block of code."""
    tree = _parsed(function)
    own = tree.args
    words = []
    defaults = [None] * (len(own.args) - len(own.defaults)) + own.defaults
    for each, default in zip(own.args, defaults, strict=True):
        words.append(_argument(each, default))
    words += ["*"] * bool(own.kwonlyargs)
    for each, default in zip(own.kwonlyargs, own.kw_defaults, strict=True):
        words.append(_argument(each, default))
    words = [word for word in words if word not in ("self", "cls")]
    returned = ast.unparse(tree.returns) if tree.returns else "None"
    line = f"{tree.name}({', '.join(words)}) -> {returned}"
    if len(line) > _WIDTH:
        line = f"{tree.name}(\n" + "".join(f"    {word},\n" for word in words) + f") -> {returned}"
    return f"```text\n{line}\n```\n"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    text = argument.arg
    if argument.annotation:
        text += f": {ast.unparse(argument.annotation)}"
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _constant(module: ModuleType, name: str) -> tuple[str, str]:
    """Return what a constant is set to, and the string below it."""
    body = ast.parse(inspect.getsource(module)).body
    for statement, below in itertools.pairwise(body):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if [ast.unparse(each) for each in targets] == [name]:
            assert isinstance(statement, ast.Assign)
            text = ast.literal_eval(below.value) if isinstance(below, ast.Expr) else ""
            return ast.unparse(statement.value), _plain(inspect.cleandoc(text))
    raise InputError(f"{module.__name__}: no constant {name!r}; allowed: one that is assigned")


def _described(found: Any) -> str:
    """Return a docstring as Markdown: its sections become lists, its example a block of code."""
    text = inspect.cleandoc(found.__doc__ or "").replace("``", "`")
    if not text:
        return ""
    headings = r"^(Args|Attributes|Raises|Returns|Example|Source):"
    blocks = re.split(headings, text, flags=re.MULTILINE)
    lines = [_plain(blocks[0])]
    for heading, body in zip(blocks[1::2], blocks[2::2], strict=True):
        if heading == "Example":
            lines.append(f"```pycon\n{textwrap.dedent(body).strip()}\n```\n")
        elif heading in _FIELDS:
            lines.append(f"**{heading}**\n\n" + _listed(textwrap.dedent(body)))
        else:
            lines.append(f"**{heading}**: {_plain(textwrap.dedent(body))}")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return paragraphs, each on one line; what is set apart by spaces stays so, as code."""
    paragraphs = []
    # What looks like a tag of HTML is none.
    text = re.sub(r"<(?=[A-Za-z/])", "&lt;", text)
    for each in re.split(r"\n\s*\n", text.strip()):
        apart = each.startswith("    ")
        paragraphs.append(each if apart else " ".join(each.split()))
    return "\n\n".join(paragraphs) + "\n"


def _listed(body: str) -> str:
    """Return the entries ``name: text`` of a section as a list."""
    entries = re.split(r"\n(?=\S)", body.strip())
    lines = []
    for each in entries:
        name, _, text = each.partition(":")
        lines.append(f"- `{name.strip()}`: {' '.join(text.split())}")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the document of the project folder that this is called in."""
    if not DOCUMENT.parent.is_dir():
        print(f"{DOCUMENT}: no folder docs here; allowed: the project's folder", file=sys.stderr)
        return 2
    write_text(DOCUMENT, reference())
    return 0


if __name__ == "__main__":
    sys.exit(main())
