"""A file that a docstring, a comment or a page names is there: nearby by its name alone, or by its path."""

import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CITED = re.compile(r"(?<![\w./<>{}*…-])((?:[\w.-]+/)*[\w-]+\.(?:py|md|js))\b(?!\w|\()")
# what no checkout has: Python's own hook, which a tool puts into a copy of the tree; programs that the tutorial writes
ELSEWHERE = {
    "docs/tutorial.md": {"make_arm.py", "make_log.py", "simulate.py"},
    "tests/contracts/output/test_reasons.py": {"condition.js", "model_fit.py"},
    "tests/support/mutants/processes/startup.py": {"sitecustomize.py"},
}


def tracked() -> list[str]:
    """Every file of the checkout that is ours, relative to its root."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


FILES = tracked() if (ROOT / ".git").exists() else [str(one.relative_to(ROOT)) for one in ROOT.rglob("*.*")]
CITING = [name for name in FILES if name.endswith((".py", ".md")) and name != "CHANGELOG.md"]  # which tells what was


def words_of_program(text: str) -> Iterator[str]:
    """Docstrings and comments: of strings those that are a statement by themselves."""
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (begins and token.type == tokenize.STRING):
            yield token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def citations(name: str, text: str) -> set[str]:
    """Files that a file names."""
    if not CITED.search(text):  # most programs name none; reading their words costs a hundred times as much
        return set()
    words = words_of_program(text) if name.endswith(".py") else [text]
    return {cited.removeprefix("./") for one in words for cited in CITED.findall(one)}


def found(cited: str, citing: str, files: list[str]) -> bool:
    """Whether a citation leads somewhere: from the root, from the folder of who cites, or within its own package.

    Pages name files of all packages; a program that means one of another package has to name its folder.
    """
    folder, package = Path(citing).parent, citing.split("/")[0]
    if (ROOT / cited).exists() or (ROOT / folder / cited).exists():
        return True
    near = files if citing.endswith(".md") or "/" in cited else [one for one in files if one.startswith(package + "/")]
    return any(one == cited or one.endswith("/" + cited) for one in near)


@pytest.mark.parametrize(
    ("cited", "citing", "whether"),
    [
        ("pass.py", "estimators/online/joint.py", True),
        ("online/pass.py", "daq/core/line.py", True),
        ("estimators/online/pass.py", "docs/why.md", True),
        ("pass.py", "docs/why.md", True),
        ("pass.py", "daq/core/line.py", False),  # of another package, without its folder
        ("ass.py", "estimators/online/joint.py", False),
        ("refit/pass.py", "estimators/online/joint.py", False),
    ],
)
def test_a_citation_leads_to_a_whole_name(cited: str, citing: str, whether: bool) -> None:
    assert found(cited, citing, ["estimators/online/pass.py", "estimators/online/joint.py"]) is whether


def test_citations_are_read_from_docstrings_and_comments() -> None:
    text = '"""See one.py and deep/two.md."""\n\nx = "three.py"  # as of four.js, not five.pyc\n'
    assert citations("some.py", text) == {"one.py", "deep/two.md", "four.js"}
    assert citations("some.md", "[a](five.md), `x/six.py`, seven.py()") == {"five.md", "x/six.py"}


def test_every_file_that_is_cited_is_there() -> None:
    cited_by = {citing: citations(citing, (ROOT / citing).read_text("utf-8")) for citing in CITING}
    lost = [
        (citing, cited)
        for citing, names in cited_by.items()
        for cited in sorted(names)
        if not found(cited, citing, FILES) and cited not in ELSEWHERE.get(citing, ())
    ]
    assert lost == []
    assert sum(map(len, cited_by.values())) > 300, "it reads something"
