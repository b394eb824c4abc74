"""Joint states of ROS 2 over DDS, without a ROS installation: settings."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from drivers.base import Loss, Probe
from drivers.network.dds import DdsTopic
from drivers.network.joint_state_driver import JOINT_EXAMPLE, LOSSES, JointStateSettings


class Ros2Settings(JointStateSettings):
    """A topic of ROS 2 that carries joint states, over DDS."""

    title: ClassVar[str] = "ROS 2"
    losses: ClassVar[Mapping[str, Loss]] = {
        "lost": Loss("messages that the middleware says were lost on the way", "the network, or a busy processor"),
        **LOSSES,
    }
    example: ClassVar[str] = f"""\
# A topic of ROS 2 (pip install 'jointwatch[ros2]'; no ROS is needed). A DDS domain has no access control: whoever is in
# it can publish false states, so the interface has no default. Nothing is published there.
[drivers.ros]
kind = "ros2"
domain = 0                           # ROS_DOMAIN_ID
interface = "eth0"                   # "lo": this machine alone
topic = "/joint_states"
joints = ["shoulder_pan_joint", "elbow_joint"]
{JOINT_EXAMPLE}"""

    kind: Literal["ros2"]
    interface: str = Field(min_length=1, description='of the network: "eth0", "lo" for this machine alone')
    peers: tuple[str, ...] = Field(default=(), description="addresses, where multicast does not reach them")

    def source(self) -> DdsTopic:
        """The topic in its DDS domain."""
        return DdsTopic(self.domain, self.interface, self.peers, self.topic, self.type)

    def place(self) -> list[str]:
        """Interface, and peers where there are some."""
        peers = ", ".join(f'"{one}"' for one in self.peers)
        return [f'interface = "{self.interface}"', *([f"peers = [{peers}]"] if peers else [])]

    def modules(self) -> tuple[str, ...]:
        """The driver, with the decoder's kernels; Cyclone DDS starts its threads when it is opened."""
        return ("drivers.network.ros2",)

    @classmethod
    def probe(cls, place: str, seconds: float, options: Mapping[str, str]) -> Probe:
        """Listen to a topic and say which joints are in it. place: the network's interface."""
        given: dict[str, object] = {"kind": "ros2", "interface": place, "joints": ["any"], **options}
        if "peers" in options:
            given["peers"] = options["peers"].split(",")
        return cls.model_validate(given).heard(seconds)
