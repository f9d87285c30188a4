"""`docs/api.md` from the docstrings, by griffe."""

import re
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import griffe

from dpbandits.pages.render import render

SECTIONS: dict[str, tuple[str, str]] = {
    "Simulate": ("dpbandits", "simulate Simulation NashCurve"),
    "Compare algorithms": ("dpbandits", "compare Comparison"),
    "Choose an algorithm": ("dpbandits", "choose"),
    "Identify the best arm": ("dpbandits", "identify Identification"),
    "Audit": ("dpbandits.api", "audit audit_pair audit_mechanism"),
    "Instances": (
        "dpbandits",
        "bernoulli truncated_exponential clipped_exponential uniform linear arms replay Bandit "
        "LinearBandit",
    ),
    "User-defined algorithms": (
        "dpbandits",
        "policy positive fraction whole load_algorithm check_algorithm",
    ),
    "Errors": ("dpbandits", "InputError"),
    "Guarantees of algorithms": ("dpbandits", "guarantee"),
    "Privacy": ("dpbandits.privacy", ""),
    "Write an algorithm": (
        "dpbandits.algorithms.base",
        "Definition Algorithm IdentificationAlgorithm Task Outcome Trial Phase Segment",
    ),
    "Write a kernel": ("dpbandits.kernels", "njit blank write Arms Segments UNIFORM"),
    "Draw inside a kernel": ("dpbandits.bandits.draws", "draw_reward draw_reward_sum laplace"),
}
"""Heading -> module and its public names, or "" for all that it exports."""

_WIDTH = 100
"""Longest line of a signature."""


def api_page() -> str:
    """Return the whole reference."""
    package = _package()
    sections = []
    for heading, (module, names) in SECTIONS.items():
        chosen = names.split() or [str(name) for name in package[module].exports]
        sections.append((heading, module, [_entry(package[f"{module}.{n}"]) for n in chosen]))
    return render("api.md", sections=sections)


@cache
def _package() -> griffe.ModulesCollection:
    """Return the package as its sources have it."""
    loader = griffe.GriffeLoader(
        search_paths=[Path(__file__).parents[2]],
        docstring_parser=griffe.Parser.google,
        docstring_options={"warnings": False},
        allow_inspection=False,
    )
    loader.load("dpbandits")
    loader.resolve_aliases()
    return loader.modules_collection


def _entry(named: griffe.Object | griffe.Alias) -> dict[str, Any]:
    """Return a class, function or constant: its title, signature, docstring and members."""
    found: Any = named.final_target if isinstance(named, griffe.Alias) else named
    members = _members(found) if found.is_class else ()
    public = [member for member in members if not member.name.startswith("_")]
    # As it is imported: `dpbandits.audit` is a package as well.
    path = named.path.replace("dpbandits.api.", "dpbandits.")
    return {
        "title": f"class {path}" if found.is_class else path,
        "signature": _signature(found) if found.is_function else "",
        "value": found.value if found.is_attribute else None,
        "type": found.annotation if found.is_attribute else None,
        "name": found.name,
        "properties": [_entry(member) for member in public if "property" in member.labels],
        "methods": [_entry(member) for member in public if member.is_function],
        **_docstring(found),
    }


def _members(found: griffe.Class) -> list[Any]:
    """Return the members of a class, and those that it has from classes without an entry."""
    bases = [base for base in found.mro() if base.path not in _documented()]
    members = {key: value for base in reversed(bases) for key, value in base.members.items()}
    return list((members | found.members).values())


@cache
def _documented() -> set[str]:
    """Return the paths of what has an entry of its own."""
    package = _package()
    named = [package[f"{m}.{n}"] for m, names in SECTIONS.values() for n in names.split()]
    return {each.canonical_path for each in named}


def _signature(function: griffe.Function) -> str:
    """Return the call of a function with its types, in lines that end between arguments."""
    line = re.sub(r"\((?:self|cls)(?:, )?", "(", function.signature(), count=1)
    arguments = re.split(r", (?=\w+: )", line)
    unbroken = ", ".join(argument.replace(" ", "\N{NO-BREAK SPACE}") for argument in arguments)
    lines = textwrap.fill(unbroken, _WIDTH, subsequent_indent="    ", break_long_words=False)
    return lines.replace("\N{NO-BREAK SPACE}", " ")


def _docstring(found: griffe.Object) -> dict[str, Any]:
    """Return the sections of a docstring: text, named entries, errors, source and example."""
    sections: dict[str, Any] = {"text": "", "entries": (), "raises": (), "notes": []}
    for section in found.docstring.parsed if found.docstring else ():
        match section.kind:
            case griffe.DocstringSectionKind.text:
                sections["text"] += section.value
            case griffe.DocstringSectionKind.raises:
                sections["raises"] = section.value
            case griffe.DocstringSectionKind.parameters | griffe.DocstringSectionKind.attributes:
                sections["entries"] = section.value
            case griffe.DocstringSectionKind.returns:
                described = " ".join(each.description for each in section.value)
                sections["notes"].append(("Returns", described))
            case _:
                sections["notes"].append((section.title, section.value.description))
    return sections
