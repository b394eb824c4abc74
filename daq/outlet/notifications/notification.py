"""One notification: what has changed, by how much, since when, what to do, and where to look."""

import json
from typing import Final, NamedTuple
from urllib.parse import quote

from daq.outlet.remedies import remedy
from daq.stream.json_messages import finite
from daq.stream.update import ROBOT, Map

FORMAT: Final = 1  # of the body; another number when a field changes its meaning
FIELDS: Final = (  # of a record of change/<joint>, as daq.stream.schema has them
    *("parameter", "unit", "from", "from_deviation", "to", "to_deviation", "percent", "z", "since", "told"),
    *("evidence", "reference", "cause", "text"),
)


class Notification(NamedTuple):
    """A change of one parameter of one joint."""

    robot: str
    joint: str
    record: Map  # of change/<joint>
    page: str  # address of the page, without a slash at its end

    @property
    def key(self) -> str:
        """Name of the change: the same for every sender and every repetition."""
        return f"{self.robot}/{self.joint}/{self.record['parameter']}/{self.record['told']:.3f}"

    @property
    def link(self) -> str:
        """Where the page shows this joint."""
        return f"{self.page}/#/robot" if self.joint == ROBOT else f"{self.page}/#/joint/{quote(self.joint)}"

    @property
    def todo(self) -> str:
        """What to do about it."""
        record = self.record
        return remedy(record["parameter"], record.get("reference", "baseline"), record.get("cause", ""))

    @property
    def title(self) -> str:
        """Which joint, what and by how much, in one line."""
        percent = self.record.get("percent")
        share = f" {percent:+.1f} %" if isinstance(percent, float) and percent == percent else ""
        return f"{self.joint} of {self.robot}: {self.record['parameter']}{share}"

    def body(self, sent: float) -> bytes:
        """JSON for a webhook; sent: Unix s at which it is sent, so that a receiver can refuse what is old."""
        fields = {key: self.record[key] for key in FIELDS if key in self.record}
        body = {"format": FORMAT, "id": self.key, "sent": sent, "robot": self.robot, "joint": self.joint}
        body |= fields | {"todo": self.todo, "link": self.link}
        return json.dumps(finite(body), allow_nan=False, ensure_ascii=False).encode()

    def letter(self) -> str:
        """The text of a mail."""
        return f"{self.joint}: {self.record['text']}.\n\nWhat to do: {self.todo}\n\nThe page: {self.link}\n"
