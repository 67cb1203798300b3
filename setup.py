"""Build the package: the app, which stands at the top of the repository, travels in the wheel as packviz/_app."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

APP = ("app.py", ".streamlit/config.toml", "classroom", "pages", "ui")
README = Path("README.md").read_text(encoding="utf-8")


class WithApp(build_py):
    """Copy the app beside the library, so that its folders are no packages of their own in site-packages."""

    def run(self) -> None:
        if self.editable_mode:  # then the command runs the app of the repository
            super().run()
            return
        shutil.rmtree(self.build_lib, ignore_errors=True)  # nothing stays that an earlier build has left
        super().run()
        for name in APP:
            target = Path(self.build_lib, "packviz", "_app", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            if Path(name).is_dir():
                shutil.copytree(name, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(name, target)


def elsewhere(text: str) -> str:
    """Return the README without its pictures and its links to files: on a package index they would lead nowhere."""
    text = re.sub(r"!\[[^]]*\]\([^)]*\)\n\n", "", text)
    return re.sub(r"\[([^]]*)\]\((?!https?:|#)[^)]*\)", r"\1", text)


setup(
    cmdclass={"build_py": WithApp},
    long_description=elsewhere(README),
    long_description_content_type="text/markdown",
)
