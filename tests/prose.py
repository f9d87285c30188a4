"""Sentences and words of the documents and of the code."""

import ast
import io
import re
import tokenize

LONGEST = 35
REPLACED = re.compile(
    r"\bours\b|\bheld against\b|\bpresumed\b|\bsidecars?\b|\breading errors?\b"
    r"|\bpublished readings?\b|\bhinges?\b|\bhangs on\b|\bchunks?\b|\brefus(?:es?|ed|al)\b"
    r"|\bin one line\b|\bdecisive\b|\bmended\b|\bslips?\b|\btold\b(?! apart)"
    r"|\bwhole ledger\b|\bmade from\b",
    re.IGNORECASE,
)
"""Words that have a plainer name, where the word alone shows that it is meant."""


def written(text: str) -> str:
    """Return a page without code and computed regions, which are looked up, not read."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"<!-- begin ([^>]+) -->.*?<!-- end \1 -->", "", text, flags=re.DOTALL)


def prose(text: str) -> str:
    """Return a page without code, quotations, computed regions, HTML and the addresses of links.

    A span of code and a quotation are a word each, and so is a number with its interval. Tables,
    headings and pictures are empty lines.
    """
    text = written(text)
    text = re.sub(r"<[^>\n]+>", "", text)
    text = re.sub(r"`[^`]+`", "CODE", text)
    text = re.sub(r'"[^"\n]+"', "QUOTED", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r" \[[^\[\]]*\d[^\[\]]*\](?!\()", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"^ *[|#].*$", "", text, flags=re.MULTILINE)


def sentences(text: str) -> list[str]:
    """Return the sentences of a page.

    A paragraph and an item of a list end one. So do a full stop, a question mark and a colon before
    a capital, a digit, ``(a)`` or a span of code; a semicolon does not.
    """
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )", prose(text)):
        line = " ".join(paragraph.split())
        found += re.split(r"(?<=[.!?:])[)*\"]* +(?=(?:\([a-f]\) )?[(*\"]*[A-Z0-9])", line)
    return found


def words(sentence: str) -> int:
    """Return the number of pieces between spaces that have a letter or a digit."""
    return sum(bool(re.search(r"[^\W_]", piece)) for piece in sentence.split())


def unplain(text: str) -> list[str]:
    """Return the sentences of a page that are too long, and words that have a plainer name."""
    long = [sentence for sentence in sentences(text) if words(sentence) > LONGEST]
    return long + unplain_words(text)


def unplain_words(text: str) -> list[str]:
    """Return the words that have a plainer name, each with what is around it."""
    line = " ".join(prose(text).split())
    return [line[max(0, m.start() - 40) : m.end() + 20] for m in REPLACED.finditer(line)]


def prose_of_code(source: str) -> str:
    """Return the docstrings and comments of a Python file as paragraphs."""
    values = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr)]
    texts = [each.value for each in values if isinstance(each, ast.Constant)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    return "\n\n".join(map(str, [*texts, *comments])).replace("``", "`")
