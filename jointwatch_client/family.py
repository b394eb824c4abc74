"""A family of topics, and the type that its messages have."""

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar, cast

M = TypeVar("M")


class Family(NamedTuple, Generic[M]):
    """Topics that begin with `topic` where it ends with a slash, else the one topic of that name."""

    topic: str

    def has(self, topic: str) -> bool:
        """Whether a topic is of this family."""
        return topic.startswith(self.topic) if self.topic.endswith("/") else topic == self.topic

    def message(self, topic: str, update: Mapping[str, Any]) -> M | None:
        """That map with its type; None where it is another family's."""
        return cast(M, update) if self.has(topic) else None
