"""The build of a wheel: pyproject.toml, and a copy of the published verdicts in the package."""

from pathlib import Path
from shutil import copyfile

from setuptools import setup
from setuptools.command.build_py import build_py

PUBLISHED = (
    "config/*.yaml",
    "config/comparisons/*.yaml",
    "config/papers/*/*",
    "docs/figures/*/claims.csv",
    "docs/figures/*/simultaneous.csv",
    "docs/figures/*/evidence.csv",
    "docs/tables/choosing/*.csv",
)
"""What ``dpbandits explain``, ``list claims`` and ``choose`` read outside a checkout."""


class BuildWithVerdicts(build_py):
    """Copies the published verdicts to ``dpbandits/published``, laid out as in the repository."""

    def run(self) -> None:
        """Build, and copy; an editable install reads them where they are."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "dpbandits" / "published"
        for pattern in PUBLISHED:
            for path in Path().glob(pattern):
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                copyfile(path, target / path)


setup(cmdclass={"build_py": BuildWithVerdicts})
