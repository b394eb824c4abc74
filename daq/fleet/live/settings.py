"""The configuration of a collector: its lake, and the services that it listens to; one TOML file."""

from pathlib import Path
from typing import Final

from pydantic import Field, field_validator, model_validator

from daq.config.fields import Endpoint, FilePath, Name, Section
from daq.config.toml_file import read_toml, validate
from daq.config.words import ConfigError, ConfigurationProblem
from daq.stream.keys import KeyFileError, read_pair, read_public

#: 1, argued: Services of one collector: its sockets have to fit into the files that a process may open.
MOST: Final = 4000


class CollectedService(Section):
    """A service that is listened to; its table's name is its [robot] name."""

    endpoint: Endpoint = Field(description="its [publish] endpoint")
    server_key: FilePath | None = Field(default=None, description="its server.key, where its stream is locked")


class LakeSection(Section):
    """The table [lake]."""

    place: str = Field(min_length=1, description="a folder, or a URL that pyarrow reads: s3://bucket/fleet, gs://…")
    collector: Name = Field(default="collector", description="name of this collector: each writes its own files")
    key: FilePath | None = Field(default=None, description="our .key_secret, where streams are locked")
    raw: float = Field(default=2.0, ge=0.1, le=3660, description="days for which every summary is kept")
    minutes: float = Field(default=60.0, ge=1, le=3660, description="days for which minutes are kept; then hours, days")

    @field_validator("place")
    @classmethod
    def _absolute(cls, place: str, info: object) -> str:
        folder = (getattr(info, "context", None) or {}).get("folder") or Path()
        return place if "://" in place else str((Path(folder) / place).absolute())


class CollectorSettings(Section):
    """A whole file."""

    lake: LakeSection
    robots: dict[Name, CollectedService] = Field(min_length=1, max_length=MOST)

    @model_validator(mode="after")
    def _keys_in_pairs(self) -> "CollectorSettings":
        locked = [name for name, one in self.robots.items() if one.server_key is not None]
        if locked and self.lake.key is None:
            raise ValueError(f"expected [lake] key = our .key_secret, since robots.{locked[0]} has a server_key")
        places = [one.endpoint for one in self.robots.values()]
        if len(set(places)) < len(places):
            twice = next(one for one in places if places.count(one) > 1)
            raise ValueError(f"expected each endpoint once, found {twice} twice")
        return self


def load_collector(file: Path) -> CollectorSettings:
    """Read and check a file; its keys are read, too. Raises ConfigError with every mistake found."""
    data, lines = read_toml(file)
    found = validate(CollectorSettings, data, file, lines)
    problems = []
    try:
        if found.lake.key is not None:
            read_pair(found.lake.key)
    except KeyFileError as error:
        problems.append(ConfigurationProblem(lines.of(("lake", "key")), "lake.key", str(error)))
    for name, one in found.robots.items():
        try:
            if one.server_key is not None:
                read_public(one.server_key)
        except KeyFileError as error:
            where = ("robots", name, "server_key")
            problems.append(ConfigurationProblem(lines.of(where), ".".join(where), str(error)))
    if problems:
        raise ConfigError(file, problems)
    return found
