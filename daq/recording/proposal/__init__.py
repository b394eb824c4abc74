"""Proposes a table of columns for any recording: a person has to check it, and lines marked ASK want an answer."""

from daq.recording.proposal.document import left_out_of, propose, questions_of
from daq.recording.proposal.template import UnnamedQuantitiesError

__all__ = ["UnnamedQuantitiesError", "left_out_of", "propose", "questions_of"]
