"""YAML documents: a key that is given twice is refused, in one line, wherever it is."""

from pathlib import Path

import pytest
import yaml

from dpbandits.engine.documents import load_yaml
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project

ROOT = Path(__file__).resolve().parents[2]

# (text, the key, the two lines)
TWICE = [
    ("a: 1\nb: 2\na: 3\n", "'a'", (1, 3)),
    ("analytic: [one, two]\n# a comment\nanalytic: [one]\n", "'analytic'", (1, 3)),
    ("a:\n  b: {c: 1, d: 2, c: 1}\n", "'c'", (2, 2)),
    ("a:\n- b: 1\n  'b': 2\n", "'b'", (2, 3)),
    ("a:\n  1: x\n  0x1: y\n", "1", (2, 3)),
    ("a:\n  1: x\n  1.0: y\n", "1.0", (2, 3)),
    ("a: &own {b: 1}\nc: {<<: *own, b: 2, b: 3}\n", "'b'", (2, 2)),
]


@pytest.mark.parametrize(("text", "key", "lines"), TWICE)
def test_a_key_given_twice_is_refused(
    tmp_path: Path, text: str, key: str, lines: tuple[int, int]
) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        load_yaml(path)
    expected = f"{path}: key {key} is given twice, in lines {lines[0]} and {lines[1]}; allowed: "
    assert str(refused.value).startswith(expected)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "a: {b: 1}\nc: {b: 1}\n",
        "a: 1\n'1': 2\n1: 3\n",
        "a: &own {b: 1}\nc: {<<: *own, b: 2}\nd: &more {<<: *own, b: 3}\ne: {<<: *more, b: 4}\n",
        "a: [1, {b: &again {c: 1}}, *again]\n",
    ],
)
def test_other_documents_are_what_yaml_makes_of_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(text)
    assert load_yaml(path) == yaml.safe_load(text)


def test_a_key_given_twice_in_the_config_is_refused_whoever_has_read_it(tmp_path: Path) -> None:
    (tmp_path / "workflow").symlink_to(ROOT / "workflow")
    (tmp_path / "config").mkdir()
    text = (ROOT / "config/config.yaml").read_text()
    (tmp_path / "config/config.yaml").write_text(text + "scale: quick\n")
    for config in (None, yaml.safe_load(text)):
        with pytest.raises(InputError, match=r"config\.yaml: key 'scale' is given twice"):
            Project.load(tmp_path, config=config)
