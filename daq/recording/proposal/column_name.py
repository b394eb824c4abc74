"""Interprets the name of a column: quantity, whether it was measured, unit, and the remaining words, which name the
joint."""

import re
import unicodedata
from typing import Final, NamedTuple

from daq.recording.proposal.words import (
    AXES,
    CARTESIAN,
    CHINESE,
    COUNTERS,
    DERIVED,
    ESTIMATED,
    KINDS,
    MEASURED,
    MODEL,
    PLACES,
    REFERENCE,
    ROLES,
    SILENT,
    TIME,
)
from drivers.units import parse

_GREEK: Final = {"τ": " tau ", "θ": " theta ", "φ": " phi ", "ω": " omega ", "\u0307": " dot ", "\u0308": " ddot "}
_BRACKET: Final = re.compile(r"[\[(]([^\[\]()]*)[\])]")
_RSI: Final = {"AIPos": "actual pos", "ASPos": "setpoint pos", "MACur": "motor current"}  # abbreviations of KUKA's RSI
_NUMBERED: Final = re.compile(r"[A-Za-z]{1,5}\d+")  # (J1) and (A1) are joints, not joule and ampere
_JOINED: Final = re.compile(
    r"(joint|motor|actual|measured|axis|link|target|desired|command|current|soll|ist|achs|gelenk)s?"
    r"(?=(?:pos|vel|tor|tau|ang|cur|acc|eff|spe|q\b|temp|mom|dreh|win|str|gesch|lage|wert))"
)
_PER: Final = {"degs": "deg/s", "degps": "deg/s", "dps": "deg/s", "rads": "rad/s", "radps": "rad/s", "rpm": "rpm"}
_UNITS: Final = {
    "deg": "deg", "degree": "deg", "degrees": "deg", "rad": "rad", "radian": "rad", "radians": "rad", "nm": "N·m",
    "mnm": "mN·m", "ma": "mA", "amp": "A", "ms": "ms", "msec": "ms", "us": "us", "usec": "us", "ns": "ns", "nsec": "ns",
    "rev": "rev", "revs": "rev", "turns": "rev", "mm": "mm", "percent": "%", "pct": "%", "counts": "counts",
    "ticks": "counts", "inc": "counts", "incr": "counts", "cnt": "counts", "increments": "counts", "nmm": "N·mm",
    "ncm": "N·cm", "kgcm": "kg·cm", "permille": "‰", "promille": "‰", "mdeg": "mdeg",
} | _PER  # fmt: skip
# words to which `parse` gives another meaning
_OWN: Final = ("ticks", "inc", "incr", "cnt", "increments", "permille", "promille")


class ColumnName(NamedTuple):
    """The meaning of a name."""

    role: str  # of ROLES, "time", or empty
    rank: int  # rank of the word for the quantity; 0: the clearest
    reference: bool  # a plan, a difference, or an output of a model
    estimated: bool  # computed by a drive or an observer instead of measured
    cartesian: bool
    measured: bool  # the name states that it was measured
    kinds: tuple[str, ...]  # "motor", "link", "filtered", …, "from current"
    unit: str  # as written in tables; empty if the name has no unit
    rest: tuple[str, ...]  # the remaining words and numbers


def words_of(name: str) -> list[str]:
    """Split a name into words and numbers, in lower case."""
    text = unicodedata.normalize("NFD", name)
    for sign, word in _GREEK.items():
        text = text.replace(sign, word)
    for sign, word in CHINESE.items():
        text = text.replace(sign, f" {word} ")
    for said, word in _RSI.items():
        text = text.replace(said, word)
    text = "".join(sign for sign in text if unicodedata.category(sign) != "Mn")
    text = re.sub(r"(?<![A-Za-z])m(Nm|A)(?![A-Za-z])", lambda unit: unit[0].lower(), text)
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", re.sub(r"([a-z])([A-Z])", r"\1 \2", text)).lower()
    text = _JOINED.sub(r"\1 ", text)
    return re.findall(r"[a-z]+|\d+|°|%", text)


def read_name(name: str) -> ColumnName:
    """Interpret a name; a final [i] is an index in a matrix, or the number of a joint."""
    unit, text = _bracketed_unit(name)
    words = words_of(text)
    if not unit:
        unit, words = _last_unit(words)
    tail = words_of(name.rpartition(".")[2])
    role, rank, used = _role(words, len(tail))
    if len(words) == 2 and words[0] in TIME and role:  # t_q are the times of q
        role, rank, used = "time", TIME.index(words[0]), set(words)
    if role == "time" and unit and not is_time_unit(unit):  # as in R_Hip_T_meas(Nm)
        role, rank, used = _role([word for word in words if word not in TIME], len(tail))
    if "." in name and tail and set(tail) <= {*TIME, "s", *_UNITS}:
        role, rank, used = "time", min((TIME.index(one) for one in tail if one in TIME), default=0), set(words)
    plain = set(words) - {"in"} if role == "time" else set(words)  # "in" of ZeitInSec does not mean input
    if MEASURED & plain:
        plain -= {"control", "model"}  # axis0.motor.current_control.Iq_measured, /model/meas/jointPos
    reference = bool((REFERENCE | DERIVED | MODEL) & plain) or _desired(words, role)
    reference |= role in ("torque", "force", "current") and "dot" in words  # tauDot: how fast it changes
    kinds = {KINDS[word] for word in words if word in KINDS and word not in used}
    if "qfrc" in words:
        kinds.discard("motor")  # MuJoCo's qfrc_actuator is what actuators do at the joint, behind their gears
    if role == "torque" and any(word in ROLES["current"][:5] for word in words):
        kinds.add("from current")
    spent = used | MEASURED | set(KINDS) | REFERENCE | DERIVED | MODEL | ESTIMATED
    rest = tuple(word for word in words if word not in spent)
    if role == "torque":
        rest = tuple(word for word in rest if word not in ROLES["current"])
    telling = [word for word in rest if word not in SILENT and not word.isdigit()]
    cartesian = bool(CARTESIAN & set(words)) or (bool(telling) and set(telling) <= AXES)
    cartesian |= len(telling) > 1 and telling[0] in PLACES and telling[-1] in ("x", "y", "z")
    estimated, measured = bool(ESTIMATED & set(words)), bool(MEASURED & set(words))
    return ColumnName(role, rank, reference, estimated, cartesian, measured, tuple(sorted(kinds)), unit, rest)


def _role(words: list[str], shown: int) -> tuple[str, int, set[str]]:
    """Return the quantity, the rank of its word, and the words for it. shown: words after the last dot of the name."""
    found = {role: [word for word in words if word in names] for role, names in ROLES.items()}
    dots = sum({"dot": 1, "ddot": 2, "d": 0}.get(word, 0) for word in words)
    if found["position"] and dots:
        role = "velocity" if dots == 1 else "acceleration"
        return role, 0, {*found["position"], "dot", "ddot"}
    if found["temperature"] and words != ["temps"]:  # "temps" alone is French for time
        return "temperature", 0, set(found["temperature"])
    if set(words) & set(TIME) and not any(found[role] for role in ("position", "velocity", "torque", "current")):
        return "time", min(TIME.index(word) for word in words if word in TIME), set(TIME)
    for role in ROLES:
        if role == "current" and found["position"] and not ("i" in words and found["position"] == ["q"]):
            continue  # here "current" means present, as in the current position
        if found[role] and not (role in ("input", "load") and shown > 3):
            said = {*found[role], *(found["current"] if role in ("position", "velocity") else ())}
            if role == "current" and "i" in said:
                said.add("q")
            return role, min(ROLES[role].index(word) for word in found[role]), said
    return "", 0, set()


def _desired(words: list[str], role: str) -> bool:
    """Whether a d follows the quantity, as in q_d and tau_J_d, or a letter marks it as a part of a torque."""
    after = words[1:]
    if role in ("position", "velocity", "torque", "acceleration") and "d" in after:
        return True
    return role == "torque" and any(word in ("g", "c", "f", "fric") for word in after)


def _bracketed_unit(name: str) -> tuple[str, str]:
    """Return a unit in brackets, and the name without it; numbers in brackets are kept in the name."""
    for match in _BRACKET.finditer(name):
        inside = usual_unit(match[1].strip())
        if (
            inside
            and not (inside.isdigit() or _NUMBERED.fullmatch(inside))
            and (is_unit(inside) or inside in _UNITS.values())
        ):
            return inside, name[: match.start()] + " " + name[match.end() :]
    return "", name


def _last_unit(words: list[str]) -> tuple[str, list[str]]:
    """Return a unit at the end of a name, before or after a number: q_1_deg, q_deg_1, vel_deg_per_s."""
    body = list(words)
    number = [body.pop()] if body and body[-1].isdigit() and len(body) > 2 else []
    for end in (["per", "s"], ["s"], ["per", "sec"]):
        if len(body) > len(end) + 1 and body[-len(end) :] == end and _UNITS.get(body[-len(end) - 1]) in ("deg", "rad"):
            return f"{_UNITS[body[-len(end) - 1]]}/s", body[: -len(end) - 1] + number
    if len(body) > 1 and (body[-1] in _UNITS or body[-1] == "°"):
        return "deg" if body[-1] == "°" else _UNITS[body[-1]], body[:-1] + number
    if len(body) > 2 and body[-2:] == ["n", "m"]:
        return "N·m", body[:-2] + number
    return "", words


def usual_unit(text: str) -> str:
    """Convert a unit that a file writes in another way (Grad, inc, permille) to the form of tables of columns."""
    plain = text.strip().lower()
    return {"grad": "deg", "grad/s": "deg/s"}.get(plain) or (_UNITS[plain] if plain in _OWN else text)


def is_time_unit(unit: str) -> bool:
    """Whether this is a unit of time."""
    found = parse(unit)
    return found is not None and found.unit == "s"


def is_unit(text: str) -> bool:
    """Whether this is a unit of drivers/units.py."""
    found = parse(text)
    return text in ("%", "‰") or (found is not None and found.unit not in ("", "1"))


def is_bare(said: ColumnName) -> bool:
    """Whether a name gives a joint but no quantity: joint_1, A1, AXIS_ACT_A1."""
    return not said.role and any(one.isdigit() for one in said.rest) and all(
        one.isdigit() or one in SILENT for one in said.rest
    )  # fmt: skip


def is_state(said: ColumnName) -> bool:
    """Whether a matrix is only called "state", as in observation.state: it may contain the positions."""
    known = not (said.reference or said.cartesian) and bool({"state", "states"} & set(said.rest))
    return known and all(one in SILENT for one in said.rest)


def counts_rows(name: str) -> bool:
    """Whether this is the name of a counter of rows."""
    words = words_of(name)
    return bool(words) and words[-1] in COUNTERS
