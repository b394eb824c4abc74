"""`jointwatch report`: `run.py` collects the content of a recording, `document.py` makes the page from it, with the
SVG of `figures.py` and the texts of `words.py`; `command.py` is the command."""
