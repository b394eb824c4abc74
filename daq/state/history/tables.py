"""The tables of the history file, and how an interval is added to a row that is there already.

A minute is added to its row of minutes, of hours and of days in one transaction, so the three always agree, and no
roll-up can be missed or done twice. What is added to a row counts by its number of values (n):

    n ← n + n′;  mean ← (n·mean + n′·mean′)/(n + n′);  deviation² ← (n·deviation² + n′·deviation′²)/(n + n′)
"""

from typing import Final, NamedTuple

VERSION: Final = 1  # PRAGMA user_version: of the tables
APPLICATION: Final = 0x4A574849  # PRAGMA application_id: "JWHI", by which `file` and we know the file


class Grain(NamedTuple):
    """One length of interval that is kept."""

    table: str
    seconds: int


MINUTE, HOUR, DAY = (Grain("minute", 60), Grain("hour", 3600), Grain("day", 86_400))
GRAINS: Final = (MINUTE, HOUR, DAY)  # days are those of UTC

_VALUES: Final = """
CREATE TABLE {0} (
  start INTEGER NOT NULL,      -- Unix s
  quantity INTEGER NOT NULL REFERENCES quantity,
  n INTEGER NOT NULL,          -- values that went in, while the joint's values were valid; five a second at most
  mean REAL NOT NULL,
  deviation REAL NOT NULL,     -- of a parameter: rms of its standard deviation; of all else: rms about zero
  low REAL NOT NULL,
  high REAL NOT NULL,
  PRIMARY KEY (start, quantity)
) WITHOUT ROWID;
CREATE TABLE use_{0} (
  start INTEGER NOT NULL,
  joint INTEGER NOT NULL REFERENCES joint,
  seconds REAL NOT NULL,       -- in motion
  travel REAL NOT NULL,        -- rad (m)
  reversals INTEGER NOT NULL,
  starts INTEGER NOT NULL,     -- motions after a rest
  PRIMARY KEY (start, joint)
) WITHOUT ROWID;
"""
SCHEMA: Final = """
CREATE TABLE joint (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE quantity (
  id INTEGER PRIMARY KEY,
  joint INTEGER NOT NULL REFERENCES joint,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  UNIQUE (joint, name, unit)
);
CREATE TABLE use_total (       -- of each joint since the file began, and up to where the core's own counts went in
  joint INTEGER PRIMARY KEY REFERENCES joint,
  unit TEXT NOT NULL,          -- of travel
  since REAL NOT NULL,         -- Unix s
  seconds REAL NOT NULL, travel REAL NOT NULL, reversals INTEGER NOT NULL, starts INTEGER NOT NULL,
  boot INTEGER NOT NULL,       -- of the core whose counts these are:
  seen_seconds REAL NOT NULL, seen_travel REAL NOT NULL, seen_reversals INTEGER NOT NULL, seen_starts INTEGER NOT NULL
);
CREATE TABLE change (          -- the records of change/<joint>, see docs/stream.md
  joint INTEGER NOT NULL REFERENCES joint,
  parameter TEXT NOT NULL,
  told REAL NOT NULL,          -- Unix s
  record TEXT NOT NULL,        -- JSON
  PRIMARY KEY (joint, parameter, told)
) WITHOUT ROWID;
CREATE TABLE note (time REAL NOT NULL, text TEXT NOT NULL);  -- what has happened to this file
""" + "".join(_VALUES.format(grain.table) for grain in GRAINS)


def add_values(grain: Grain) -> str:
    """SQL that adds (start, quantity, n, mean, deviation, low, high) to a row; `root` is the square root."""
    return f"""
INSERT INTO {grain.table} VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  mean = (n * mean + excluded.n * excluded.mean) / (n + excluded.n),
  deviation = root((n * deviation * deviation + excluded.n * excluded.deviation * excluded.deviation)
    / (n + excluded.n)),
  low = min(low, excluded.low), high = max(high, excluded.high), n = n + excluded.n"""


def add_use(grain: Grain) -> str:
    """SQL that adds (start, joint, seconds, travel, reversals, starts) to a row."""
    return f"""
INSERT INTO use_{grain.table} VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  seconds = seconds + excluded.seconds, travel = travel + excluded.travel,
  reversals = reversals + excluded.reversals, starts = starts + excluded.starts"""


ADD_TOTAL: Final = """
INSERT INTO use_total VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  unit = excluded.unit, seconds = seconds + excluded.seconds, travel = travel + excluded.travel,
  reversals = reversals + excluded.reversals, starts = starts + excluded.starts, boot = excluded.boot,
  seen_seconds = excluded.seen_seconds, seen_travel = excluded.seen_travel,
  seen_reversals = excluded.seen_reversals, seen_starts = excluded.seen_starts"""
