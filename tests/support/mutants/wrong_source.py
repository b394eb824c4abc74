"""Lies as `sitecustomize.py` in a copy of the tree: one module is compiled from another text than its file has.

The file itself stays as it is, so that kernels of other files, whose stamps cover it, are not compiled again, and what
reads sources reads the right one.
"""

import importlib.machinery
import json
from pathlib import Path
from types import CodeType
from typing import Any


def install() -> None:
    """For what this process imports from now on."""
    wrong: dict[str, str] = json.loads(Path(__file__).with_name("wrong_source.json").read_text("utf-8"))
    get_code = importlib.machinery.SourceFileLoader.get_code

    def get_code_or_wrong(self: Any, fullname: str) -> CodeType | None:
        if self.path != wrong["file"]:
            return get_code(self, fullname)
        code: CodeType = self.source_to_code(wrong["text"].encode(), self.path)
        return code

    importlib.machinery.SourceFileLoader.get_code = get_code_or_wrong  # type: ignore[method-assign,assignment]


if __name__ == "sitecustomize":
    install()
