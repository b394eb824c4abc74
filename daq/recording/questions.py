"""Open questions in a proposed file: lines marked ASK, which a person answers and then removes."""

from typing import Final

ASK: Final = "ASK: "


def open_questions(text: str) -> list[tuple[int, str]]:
    """Return the questions that a person has not removed yet, each with its line number, from 1."""
    found = ((number, line.partition("#")[2]) for number, line in enumerate(text.splitlines(), 1))
    return [(number, comment.partition(ASK)[2].strip()) for number, comment in found if ASK in comment]
