"""Lies as `sitecustomize.py` in a copy of the tree, so that every Python started there begins with it.

One module is compiled from another text than its file has. The file itself stays as it is, so that kernels of other
files, whose stamps cover it, are not compiled again. While the tests are observed it records which lines are run.
"""

import atexit
import importlib.machinery
import json
import os
from pathlib import Path
from types import CodeType
from typing import Any, Final

ORDERS: Final = "mutants.json"  # in the copy: {"file", "text", "observe": files, "into": folder}
NOW: Final = "now"  # in that folder: which test runs
BEGUN: Final = ".begun"  # of a process by its number: which test started it; removed when it has saved
SAVED: Final = ".saved"  # what it ran


def substitute(wrong: dict[str, Any]) -> None:
    """The text of one file, for what this process imports from now on."""
    get_code = importlib.machinery.SourceFileLoader.get_code

    def get_code_or_wrong(self: Any, fullname: str) -> CodeType | None:
        if self.path != wrong["file"]:
            return get_code(self, fullname)
        code: CodeType = self.source_to_code(wrong["text"].encode(), self.path)
        return code

    importlib.machinery.SourceFileLoader.get_code = get_code_or_wrong  # type: ignore[method-assign]


class Recording:
    """What this process runs, on account of the test that started it; what a process forked from it runs, too."""

    def __init__(self, files: list[str], folder: Path) -> None:
        self._files, self._folder = files, folder
        self._begin()
        atexit.register(self._save)
        os.register_at_fork(after_in_child=self._forked)

    def _begin(self) -> None:
        import coverage  # only here: it takes a while

        self._mine = os.getpid()
        test = (self._folder / NOW).read_text("utf-8")
        self._begun = self._folder / f"{self._mine}{BEGUN}"
        self._begun.write_text(test, "utf-8")
        data = str(self._folder / f"{self._mine}{SAVED}")
        self._coverage = coverage.Coverage(data, include=self._files, context=test, config_file=False, messages=False)
        self._coverage.start()

    def _forked(self) -> None:
        self._coverage.stop()
        self._begin()

    def _save(self) -> None:
        if self._mine == os.getpid():
            self._coverage.stop()
            self._coverage.save()
            self._begun.unlink()


if __name__ == "sitecustomize":
    orders = json.loads(Path(__file__).with_name(ORDERS).read_text("utf-8"))
    if orders["file"]:
        substitute(orders)
    if orders["observe"]:
        Recording(orders["observe"], Path(orders["into"]))
