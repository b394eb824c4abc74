"""The history of years: `minutes.py` gathers a minute from the stream, `keeper.py` writes it in a thread of its own.

`request.py` answers the page from the file.
"""
