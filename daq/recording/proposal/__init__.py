"""Proposes a table of columns for any recording. A person has to check it, and to answer the lines marked ASK."""

from daq.recording.proposal.document import left_out_of, propose, questions_of
from daq.recording.proposal.template import UnnamedQuantitiesError

__all__ = ["UnnamedQuantitiesError", "left_out_of", "propose", "questions_of"]
