"""Meaning and remedy of every counter of losses; drivers from other packages have their own."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from daq.commands.doctor.host import NOTE, WARN, DoctorFinding
from drivers.base import TRAFFIC, Loss
from drivers.can.bus_errors import CAUSES as BUS_CAUSES
from drivers.catalogue import PluginError, named

# counter → meaning, remedy
CAUSES: Final[Mapping[str, tuple[str, str]]] = {
    "unmatched": ("frames whose id the layout does not know", "harmless if you do not need them; otherwise add them"),
    "truncated": ("frames shorter than the layout", "compare the frame's length with the layout (the table below)"),
    "remote_frames": ("requests, which have no data", "harmless"),
    "error_frames": ("errors that the controller detected", "check wiring, termination and bit rate"),
    "malformed": ("bytes that are not a frame", "wrong bit or baud rate, or another protocol than configured"),
    "dropped": ("frames dropped by the kernel's full queue", "a larger net.core.rmem_max (see socket queue)"),
    "lost": ("frames missing by their counter", "the sender skips, the link drops frames, or the queue was full"),
    "restarted": ("the frames' counter went back", "the device was reset"),
    "silent": ("time-outs of frames", "is that device on?"),
    "bad_checksum": ("frames with a wrong checksum", "another kind of checksum, or a disturbed wire"),
    "bad_crc": ("packets with a wrong CRC", "the baud rate, the kind of CRC, or a disturbed line"),
    "bad_cobs": ("bytes between delimiters that are not a packet", "the baud rate, or another framing"),
    "oversized": ("packets longer than described", "compare the fields with the device's"),
    "garbage_bytes": ("bytes outside packets", "the baud rate, or another framing"),
    "invalid": ("values that the device marked as invalid", "is the axis referenced and enabled?"),
    "own_frames": ("frames that this host sent itself", "harmless: commands; own_frames = false ignores them"),
    "restamped": ("frames with an impossible time stamp", "harmless once: somebody set the clock"),
    "other_channels": ("frames of other buses in the recording", "harmless: `channel` selects a bus"),
    "out_of_range": ("values outside the layout's limits", "scale, sign and byte order; or the DBC's limits are wrong"),
    "non_finite": ("floats that are not finite numbers", "check byte order and start bit"),
    # of the running service, after its drivers
    "readings_lost_total": ("readings that the core was too slow to take", "a free processor, or [processes] priority"),
    "late": (
        "values that arrived after their sample was used",
        "the wire's jitter, or a channel's delay (jointwatch skew)",
    ),
    "duplicate": ("frames that came twice by their counter or stamp", "harmless: the second one is not used"),
    "out_of_order": ("frames older than the previous one", "a link that reorders frames; the older frame is not used"),
    "glitch": ("implausible encoder values", "encoder and cable; `wrap` of the channel"),
    "restart": (
        "clocks that were reset",
        "the device was reset, or the wire was silent for longer than a counter cycle",
    ),
    "rejected": ("frames whose device time runs ahead", "unit and `wrap` of device_time; a damaged stamp"),
    "refused": ("frames of a joint whose signals are implausible", "see the reasons of the joint"),
    "interpolated": ("samples interpolated across missing values", "harmless; `bridge` limits how many in a row"),
}


def losses(
    subject: str, counts: Mapping[str, int], own: Mapping[str, Loss] = MappingProxyType({})
) -> Iterator[DoctorFinding]:
    """A finding for every counter of losses that is not zero."""
    for cause, count in counts.items():
        if not count or (cause in TRAFFIC and cause not in CAUSES):
            continue
        if cause in BUS_CAUSES:
            yield DoctorFinding(WARN, subject, f"{cause} = {count}: {BUS_CAUSES[cause].text.format(name=subject)}")
            continue
        meaning, remedy = own.get(cause) or CAUSES.get(cause, ("", ""))
        yield DoctorFinding(
            NOTE if remedy.startswith("harmless") else WARN, subject, f"{cause} = {count}: {meaning}", remedy
        )


def tell_causes() -> None:
    """Print every cause that the service counts, with its meaning and remedy, on stderr."""
    print("What is counted, and what to do about it:", file=sys.stderr)
    for cause, (meaning, remedy) in CAUSES.items():
        print(f"{'':9} {cause}: {meaning} → {remedy}", file=sys.stderr)
    for name, bus_cause in BUS_CAUSES.items():
        text = bus_cause.text.format(name="can0") or "normal on a bus: nothing to repair"
        print(f"{'':9} {name}: {text}", file=sys.stderr)


def tell_losses(of: Sequence[str]) -> None:
    """Print the further counters of drivers of these kinds on stderr."""
    for kind in of:
        try:
            losses = named(kind).losses
        except PluginError as error:
            print(f"{'':9} {error}", file=sys.stderr)
            continue
        for cause, loss in losses.items():
            print(f"{'':9} {cause} ({kind}): {loss.meaning} → {loss.remedy}", file=sys.stderr)
