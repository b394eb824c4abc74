"""Findings as they are reported: one record each, which keeps its number while it is refined."""

from typing import Final, NamedTuple

#: findings, argued: Findings that are over and still reported: enough for a page, and a bound on memory.
KEPT: Final = 20
#: ns, argued: Time after the end of a contact within which another contact of its joints, or a cause that is found,
#: belongs to the same finding: SOON of contact.py, within which the cause becomes known.
AGAIN: Final = 3_000_000_000
# causes by which something is examined: a contact, or a slip that was seen as a jump
FIRST: Final = ("contact", "encoder_slip")


class RobotFinding(NamedTuple):
    """One event that has been found, with its cause."""

    number: int  # that identifies it, from 1
    since: int  # ns
    updated: int  # ns
    cause: str  # the name of a cause
    joints: tuple[str, ...]  # that it names
    text: str
    others: tuple[str, ...]  # causes that fit as well
    over: bool
    gradual: bool = False  # whether it consists of many small steps


class Findings:
    """All findings; at most one of them is under examination."""

    def __init__(self) -> None:
        self._every: dict[int, RobotFinding] = {}
        self._count = 0
        self._examined = self._last = 0

    @property
    def every(self) -> tuple[RobotFinding, ...]:
        """The last KEPT of them, the oldest first."""
        return tuple(self._every.values())

    @property
    def examined(self) -> RobotFinding | None:
        """The finding under examination, whose cause is not decided."""
        return self._every.get(self._examined)

    def examine(self, time: int, cause: str, joints: tuple[str, ...], text: str) -> bool:
        """Examine a residual beyond its threshold: a new finding (True), or more joints of the present one."""
        before = self.examined
        if before is not None:
            more = tuple(dict.fromkeys((*before.joints, *joints))) if before.cause == "contact" else before.joints
            self._every[before.number] = before._replace(updated=time, joints=more)
            return False
        ended = self._just_ended(time, joints)
        if ended:
            self._examined = ended
            self._every[ended] = self._every[ended]._replace(updated=time, over=False)
            return False
        self._examined = self._last = self._new(time, cause, joints, text)
        return True

    def doubt(self, time: int, others: tuple[str, ...], text: str) -> bool:
        """Note that several causes fit the finding under examination; True where that is new."""
        before = self.examined
        if before is None or before.others:
            return False
        self._every[before.number] = before._replace(updated=time, others=others, text=text)
        return True

    def settle(self, time: int, cause: str, text: str) -> None:
        """What is examined is what it was taken for, and several causes do not fit any more."""
        before = self.examined
        if before is not None and before.others and before.cause == cause:
            self._every[before.number] = before._replace(updated=time, others=(), text=text)

    def decide(
        self,
        time: int,
        cause: str,
        joints: tuple[str, ...],
        text: str,
        over: bool,
        since: int | None = None,
        gradual: bool = False,
    ) -> int:
        """Give the finding under examination its cause, or add one that no threshold has shown; returns its number.

        since: ns, when that began; None: now; gradual: see RobotFinding.
        """
        ended = self._just_ended(time, joints, cause) if since is None else 0  # its cause may still be found
        number = self._examined or ended or self._new(time if since is None else since, cause, joints, text)
        self._examined = 0
        self._last = 0 if number == self._last else self._last
        found = self._every[number]
        self._every[number] = found._replace(
            updated=time, cause=cause, joints=joints, text=text, others=(), over=over, gradual=gradual
        )
        return number

    def unexplained(self, time: int, joints: tuple[str, ...]) -> bool:
        """Whether a contact of these joints is examined, or has just ended without a cause: that it is examined now."""
        if self.examined is None:
            self._examined = self._just_ended(time, joints)
        examined = self.examined
        return examined is not None and examined.cause == "contact"

    def note(self, time: int, cause: str, text: str) -> int:
        """Add a finding that is independent of the one under examination; returns its number."""
        return self._new(time, cause, (), text)

    def reopen(self, number: int) -> None:
        """Examine a finding (0: none) again, since its cause was wrong."""
        self._examined = number if number in self._every else 0

    def drop(self) -> None:
        """Remove the finding under examination: it was only the end of another one."""
        self._every.pop(self._examined, None)
        self._examined = 0

    def refine(self, time: int, number: int, text: str, joints: tuple[str, ...] | None = None) -> None:
        """Refine a finding; joints: that it names now, None: as before."""
        if number in self._every:
            found = self._every[number]
            self._every[number] = found._replace(
                updated=time, text=text, joints=found.joints if joints is None else joints
            )

    def close(self, time: int, number: int = 0) -> None:
        """Close a finding that is over; 0: the one under examination."""
        number = number or self._examined
        if number == self._examined:
            self._examined = 0
        if number in self._every:
            self._every[number] = self._every[number]._replace(updated=time, over=True)

    def _just_ended(self, time: int, joints: tuple[str, ...], cause: str = "") -> int:
        """Number of the last examined finding if it is over, without a cause, and of these joints (empty: any).

        cause: the one found now; the last finding that was seen at once to have this cause may have ended long ago.
        """
        last = self._every.get(self._last)
        if last is None or last.cause not in FIRST or not last.over:
            return 0
        if time - last.updated >= AGAIN and (last.cause, last.joints) != (cause, joints):
            return 0
        return last.number if not joints or set(joints) & set(last.joints) else 0

    def _new(self, time: int, cause: str, joints: tuple[str, ...], text: str) -> int:
        self._count += 1
        self._every[self._count] = RobotFinding(self._count, time, time, cause, joints, text, (), False)
        for number in list(self._every)[:-KEPT]:
            del self._every[number]
        return self._count
