"""What setup.cfg cannot say: the demo collection, ``fixtures`` in a checkout, travels in the package as ``robustcs/demo``."""

from pathlib import Path
from shutil import copytree, ignore_patterns

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithDemo(build_py):
    """Builds the package and copies the demo collection into it, without the scripts that made it."""

    def run(self) -> None:
        """Build; an editable installation reads the collection where it lies in the checkout."""
        super().run()
        if not self.editable_mode:
            demo = Path(self.build_lib) / "robustcs" / "demo"
            copytree(
                "fixtures", demo, ignore=ignore_patterns("*.py", "__pycache__"), dirs_exist_ok=True
            )


setup(cmdclass={"build_py": BuildWithDemo})
