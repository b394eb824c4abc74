"""Joint states of ROS 2 over zenoh (rmw_zenoh), without a ROS installation: settings."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from drivers.base import Loss, Probe
from drivers.network.joint_state_driver import JOINT_EXAMPLE, LOSSES, JointStateSettings
from drivers.network.zenoh_topic import ZenohTopic


class ZenohSettings(JointStateSettings):
    """A topic of ROS 2 that carries joint states, over zenoh."""

    title: ClassVar[str] = "ROS 2 over zenoh"
    losses: ClassVar[Mapping[str, Loss]] = {
        "lost": Loss("messages missing from the publisher's numbering", "the network, or a busy processor"),
        "stale": Loss("messages that came twice or after a later one: dropped", "two paths through the network?"),
        "unnumbered": Loss("messages without a number: used, but no gap before them is seen", "publish with rmw_zenoh"),
        **LOSSES,
    }
    example: ClassVar[str] = f"""\
# A topic of ROS 2 over zenoh (pip install 'jointwatch[zenoh]'; no ROS is needed), through the router that rmw_zenoh
# needs anyway. Without access control in zenoh's own configuration, whoever reaches the router can publish false
# states. Nothing is published there.
[drivers.ros]
kind = "zenoh"
router = "tcp/localhost:7447"
# zenoh_config = "/etc/jointwatch/zenoh.json5"   # TLS, user and password: zenoh's own configuration file
domain = 0                           # ROS_DOMAIN_ID
topic = "/joint_states"
joints = ["shoulder_pan_joint", "elbow_joint"]
{JOINT_EXAMPLE}"""

    kind: Literal["zenoh"]
    router: str = Field(pattern=r"^[a-z]+/.+$", description='endpoint of the router: "tcp/localhost:7447"')
    zenoh_config: str = Field(default="", description="zenoh's own configuration file, for TLS and passwords")

    def source(self) -> ZenohTopic:
        """The topic, by its router."""
        return ZenohTopic(self.router, self.zenoh_config, self.domain, self.topic, self.type)

    def place(self) -> list[str]:
        """The router, and zenoh's own configuration where there is one."""
        file = [f'zenoh_config = "{self.zenoh_config}"'] if self.zenoh_config else []
        return [f'router = "{self.router}"', *file]

    def modules(self) -> tuple[str, ...]:
        """The driver, with the decoder's kernels; zenoh starts its threads when it is opened."""
        return ("drivers.network.ros2_zenoh",)

    @classmethod
    def probe(cls, place: str, seconds: float, options: Mapping[str, str]) -> Probe:
        """Listen to a topic and say which joints are in it. place: the router's endpoint, "tcp/localhost:7447"."""
        return cls.model_validate({"kind": "zenoh", "router": place, "joints": ["any"], **options}).heard(seconds)
