"""Lines of a figure's csv with the looks that they have in the drawn figure."""

import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dpbandits.errors import InputError
from dpbandits.pages.site.texts import plain
from dpbandits.reporting.draw import RESIDUAL

# The site shows what the figure shows, so that one function knows the looks.
from dpbandits.reporting.lines import PUBLISHED, looks_of
from dpbandits.reporting.palette import OPEN_MARKS, Look
from dpbandits.reporting.spec import PanelSpec, SeriesSpec
from dpbandits.reporting.text import readable

_MARKS = f"{PUBLISHED} "
"""What the names of lines of digitised values begin with."""


@dataclass(frozen=True, eq=False)
class CsvLine:
    """One line of a panel.

    Attributes:
        name: its name in the csv.
        label: what its legend says, without mathtext.
        look: how it is drawn.
        points: its rows of the csv.
        algorithm: id of its algorithm, as far as the config names it; else "".
    """

    name: str
    label: str
    look: Look
    points: pd.DataFrame
    algorithm: str = ""

    @property
    def variant(self) -> str:
        """The variant, or ``published``."""
        return str(self.points["variant"].iloc[0])

    @property
    def interpretation(self) -> str:
        """The interpretations that differ from the default ones."""
        return str(self.points["interpretation"].iloc[0])


def csv_lines(panel: PanelSpec, table: pd.DataFrame) -> list[CsvLine] | None:
    """Return the lines of a panel's csv in its order, those of digitised values last.

    Args:
        panel: its entry.
        table: its csv.

    Returns:
        None where the csv is of an earlier entry: its lines are not those that this one names.
    """
    groups = [rows for _, rows in table.groupby("series", sort=False)]
    drawn = [rows for rows in groups if rows["variant"].iloc[0] not in (PUBLISHED, RESIDUAL)]
    found = list(_assigned(panel, drawn))
    if len(found) != len(drawn) or {index for index, _ in found} != set(range(len(panel.series))):
        return None
    tagged = [
        (index, rows.assign(**{key: [value] * len(rows) for key, value in values.items()}))
        for (index, values), rows in zip(found, drawn, strict=True)
    ]
    try:
        looks = looks_of(panel, tagged, "")
    except InputError:
        return None
    lines = [
        _line(panel.series[index], values, look, rows)
        for (index, values), look, rows in zip(found, looks, drawn, strict=True)
    ]
    by_name = {line.name: line for line in lines}
    marks = [rows for rows in groups if rows["variant"].iloc[0] == PUBLISHED]
    return [*lines, *(_marks(rows, by_name) for rows in marks)]


def _assigned(
    panel: PanelSpec, drawn: list[pd.DataFrame]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the entry of each line, in order, and what is known of it; end where none fits."""
    index = 0
    for rows in drawn:
        name = str(rows["series"].iloc[0])
        for place in range(index, len(panel.series)):
            values = _values(panel, panel.series[place], name)
            if values is not None:
                yield place, values
                index = place if panel.series[place].by else place + 1
                break
        else:
            return


def _values(panel: PanelSpec, spec: SeriesSpec, name: str) -> dict[str, Any] | None:
    """Return the constants of a line of this name; None where the entry names no such line."""
    fields: list[str] = []
    pattern = ""
    for text, field, _, _ in string.Formatter().parse(spec.name):
        pattern += re.escape(text)
        if field is not None:
            pattern += f"(?P={field})" if field in fields else f"(?P<{field}>.+)"
            fields.append(field)
    found = re.fullmatch(pattern, name)
    if found is None:
        return None
    chosen = {**panel.where, **spec.where}
    known = {key: value for key, value in chosen.items() if not isinstance(value, list)}
    known |= {key: _number(value) for key, value in found.groupdict().items()}
    # An ordered column has numbers: "3999, c=1" is the value of another line.
    return None if spec.by and isinstance(known.get(spec.by), str) else known


def _number(text: str) -> float | int | str:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return text
    return int(value) if value.is_integer() and "e" not in text else value


def _line(spec: SeriesSpec, values: Mapping[str, Any], look: Look, rows: pd.DataFrame) -> CsvLine:
    name = str(rows["series"].iloc[0])
    try:
        label = readable((spec.label or spec.name).format(**values))
    except (KeyError, ValueError):
        # The legend may say more than the name, which is all that the csv has.
        label = readable(name)
    return CsvLine(name, plain(label), look, rows, str(values.get("algorithm", "")))


def _marks(rows: pd.DataFrame, lines: Mapping[str, CsvLine]) -> CsvLine:
    name = str(rows["series"].iloc[0])
    line = lines[name.removeprefix(_MARKS)]
    look = replace(OPEN_MARKS, colour=line.look.colour)
    return CsvLine(name, f"{line.label}, published", look, rows, line.algorithm)
