"""The build of a wheel: pyproject.toml, and a copy of what is published in the package."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

# Any published csv may be cited by the text of a finding.
PUBLISHED = ("config/*.yaml", "config/*/*.yaml", "config/papers/*/*", "docs/*/*/*.csv")
"""What ``dpbandits explain``, ``list claims`` and ``choose`` read outside a checkout."""


class BuildWithVerdicts(build_py):
    """Copies what is published to ``dpbandits/published``, laid out as in the repository."""

    def published(self) -> list[str]:
        """Return the files that are copied."""
        found = {path for pattern in PUBLISHED for path in Path().glob(pattern) if path.is_file()}
        return sorted(map(str, found))

    def get_source_files(self) -> list[str]:
        """Return what a source distribution has: a wheel is made from it as from a checkout."""
        return [*super().get_source_files(), *self.published()]

    def run(self) -> None:
        """Build, and copy; an editable install reads the files where they are."""
        super().run()
        if self.editable_mode:
            return
        for path in self.published():
            target = Path(self.build_lib, "dpbandits/published", path)
            self.mkpath(str(target.parent))
            self.copy_file(path, str(target))


setup(cmdclass={"build_py": BuildWithVerdicts})
