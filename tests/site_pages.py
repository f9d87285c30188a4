"""Pages of the site as a reader of HTML has them: elements, links, numbers."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "link", "meta"}
"""Elements without an end tag."""


@dataclass
class Row:
    """A row of the table of verdicts on a claim's page.

    Attributes:
        key: variant and interpretation, with a bar between.
        text: what is read in it.
        numbers: its exact numbers with the texts that are shown for them.
    """

    key: str
    text: str = ""
    numbers: list[tuple[str, str]] = field(default_factory=list)


class Reader(HTMLParser):
    """Reads a page and notes what is not well formed.

    Attributes:
        faults: elements that are not closed in order, doubled ids, pictures without a text.
        ids: every id.
        links: every address that is linked or loaded.
        rows: the rows of verdicts.
        scripts: id of a script with data -> its text.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.rows: list[Row] = []
        self.scripts: dict[str, str] = {}
        self._open: list[str] = []
        self._script = ""
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self._open]
        self.faults += [
            f"id {each} is doubled" for each in set(self.ids) if self.ids.count(each) > 1
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag not in VOID:
            self._open.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        self.links += [given[key] for key in ("href", "src", "action") if key in given]
        if tag == "img" and not given.get("alt"):
            self.faults.append(f"picture without a text: {given}")
        if tag == "script":
            self._script = given.get("id", "")
        if "data-row" in given:
            self.rows.append(Row(given["data-row"]))
        if tag == "data" and self.rows:
            self.rows[-1].numbers.append((given["value"], ""))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} closes something else")
        if tag == "table" and self.rows:
            # Numbers of later tables are not those of verdicts.
            self.rows.append(Row(""))

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["script"] and self._script:
            self.scripts[self._script] = data
        if self.rows:
            self.rows[-1].text += data
            if self._open[-1:] == ["data"]:
                value, shown = self.rows[-1].numbers[-1]
                self.rows[-1].numbers[-1] = (value, shown + data)
