"""`jointwatch doctor [CONFIG]`: reports what is on the wires, losses and causes, problems of the host.

For an unknown wire it proposes a configuration. The report goes to stderr; the configuration, or with --json everything
that was found, to stdout.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from daq.commands.codes import EXIT_RUNTIME, refuse
from daq.commands.doctor import host as doctor_host
from daq.commands.doctor.bus import Talk, talks
from daq.commands.doctor.bus import load as bus_load
from daq.commands.doctor.host import BAD, GOOD, NOTE, WARN, DoctorFinding
from daq.commands.doctor.losses import losses, tell_causes, tell_losses
from daq.commands.doctor.proposal import bus_proposal, port_proposal
from daq.config.load import load
from daq.config.physics import coarse
from daq.config.routes import Route, routes
from daq.config.sections import Config
from daq.config.words import ConfigError
from drivers.base import DriverError, EndOfFileError, LayoutError, LinkBusyError, Wanted
from drivers.catalogue import AnyDriver, kinds, named
from drivers.layout.frame import EXTENDED, Frames
from drivers.listen import listen_bus, listen_port
from drivers.reading import empty

MARKS: Final = {GOOD: "  ok  ", NOTE: " note ", WARN: " WARN ", BAD: " BAD  "}
RATE_TOLERANCE: Final = 0.05


def run(options: argparse.Namespace) -> int:
    """Examine the host and the wires, then report."""
    findings: list[DoctorFinding] = []
    data: dict[str, Any] = {}
    proposal = ""
    if options.config is not None:
        try:
            config = load(options.config)
        except ConfigError as mistakes:
            return refuse(mistakes)
        findings += doctor_host.host()
        for name in config.drivers:
            findings += _driver(name, config, options.seconds, data)
    else:
        findings += doctor_host.host()
        if options.kind is not None:
            found, proposal = _place_of(options, data)
            findings += found
        elif options.channel is not None:
            found, proposal = _bus(options, data)
            findings += found
        elif options.port is not None:
            found, proposal = _port(options, data)
            findings += found
        else:
            findings += _next_step()
    if options.json:
        data["findings"] = [finding._asdict() for finding in findings]
        print(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        for finding in findings:
            tell(finding, options.explain)
        if options.explain:
            tell_causes()
            tell_losses([options.kind] if options.kind else kinds())
        print(proposal, end="")
    return EXIT_RUNTIME if any(finding.level == BAD for finding in findings) else 0


def _place_of(options: argparse.Namespace, data: dict[str, Any]) -> tuple[list[DoctorFinding], str]:
    """Listen with a driver of this kind; returns findings and a proposed configuration."""
    subject = f"{options.kind} {options.at}".strip()
    given = dict(one.partition("=")[::2] for one in options.set)
    try:
        probe = named(options.kind).probe(options.at, options.seconds, given)
    except (DriverError, ValueError) as error:  # ValueError: an invalid setting
        return [DoctorFinding(BAD, subject, " ".join(str(error).split()))], ""
    data["said"] = probe.said
    level = GOOD if probe.proposal else BAD
    return [DoctorFinding(level, subject, line) for line in probe.said], probe.proposal


def tell(finding: DoctorFinding, explain: bool) -> None:
    """Print one finding on stderr."""
    print(f"[{MARKS[finding.level]}] {finding.subject}: {finding.text}", file=sys.stderr)
    if finding.remedy and (explain or finding.level in (WARN, BAD)):
        print(f"{'':9} → {finding.remedy}", file=sys.stderr)
    if finding.why and explain:
        print(f"{'':9} {finding.why}", file=sys.stderr)


def _next_step() -> list[DoctorFinding]:
    wires = [f"--interface socketcan --channel {name}" for name in doctor_host.interfaces()]
    wires += [f"--interface slcan --channel {port}" for port in doctor_host.ports()]
    text = "to listen: " + ("; ".join(f"jointwatch doctor {wire}" for wire in wires) or "plug in an adapter first")
    return [
        DoctorFinding(
            NOTE, "wires", text, "", "--port DEVICE --baudrate N listens to a serial line that is not a CAN adapter"
        )
    ]


def _place(interface: str, channel: str) -> Iterator[DoctorFinding]:
    """Findings about the wire itself, before it is opened."""
    if interface == "socketcan":
        yield from doctor_host.interface(channel)
    elif channel.startswith("/") and channel not in doctor_host.ports():  # those were already examined
        yield from doctor_host.serial_port(channel)


def _bus(options: argparse.Namespace, data: dict[str, Any]) -> tuple[list[DoctorFinding], str]:
    """Listen to an unknown bus; returns findings and a proposed configuration."""
    findings = list(_place(options.interface, options.channel))
    given = {"bitrate": options.bitrate} if options.bitrate and options.interface != "socketcan" else {}
    try:
        frames, counts = listen_bus(options.interface, options.channel, given, options.seconds)
    except DriverError as error:
        return [*findings, DoctorFinding(BAD, options.channel, str(error))], ""
    found = talks(frames)
    data["ids"] = [_talk_map(talk) for talk in found]
    rates = (
        options.bitrate or _bitrate(options, "bittiming"),
        options.data_bitrate or _bitrate(options, "data_bittiming"),
    )
    findings += _traffic(options.channel, frames, found, options.seconds, *rates)
    findings += losses(options.channel, counts)
    proposal = bus_proposal(options.interface, options.channel, options.bitrate, found)
    if not found:
        remedy = "is the robot on? is the bit rate right? are CAN high and low swapped? is the bus terminated?"
        findings.append(DoctorFinding(BAD, options.channel, f"no frame in {options.seconds:g} s", remedy))
    return findings, proposal if found else ""


def _bitrate(options: argparse.Namespace, timing: str) -> int | None:
    if options.interface != "socketcan":
        return None
    bitrate = doctor_host.link_details(options.channel).get(timing, {}).get("bitrate")
    return None if bitrate is None else int(bitrate)


def _traffic(
    channel: str, frames: Frames, found: list[Talk], seconds: float, bitrate: int | None, data_bitrate: int | None
) -> Iterator[DoctorFinding]:
    """Findings about the traffic on the bus: in total, then for every id."""
    if not found:
        return
    said = f"{len(frames.ids)} frames of {len(found)} ids, {len(frames.ids) / seconds:.0f} frames/s"
    if bitrate:
        bare, stuffed = bus_load(frames, seconds, bitrate, data_bitrate)
        fast = (frames.lengths > 8).any()
        rates = f"{bitrate} bit/s" + (f", data at {data_bitrate or bitrate} bit/s" if fast else "")
        said += f", load {bare:.1%} of {rates} ({stuffed:.1%} with all stuff bits)"
        if fast and not data_bitrate:
            said += "; too large, since --data-bitrate is not given"
        if stuffed > 0.8:
            yield DoctorFinding(
                WARN, channel, said, "frames with high ids will be late: raise the bit rate or send fewer frames"
            )
        else:
            yield DoctorFinding(GOOD, channel, said)
    else:
        why = "The load can be computed only with --bitrate (and --data-bitrate, for CAN FD)."
        yield DoctorFinding(GOOD, channel, said, "", why)
    for talk in found:
        moving = ", ".join(map(str, talk.moving)) or "none"
        rate = f"{talk.rate:.4g} Hz ± {talk.jitter * 1e3:.2f} ms (longest {talk.longest * 1e3:.1f} ms)"
        yield DoctorFinding(
            GOOD,
            f"{channel} {talk.id & ~EXTENDED:#05x}{'x' if talk.id & EXTENDED else ''}",
            f"{talk.length} bytes, {rate if talk.frames > 1 else 'once'}; bytes that change: {moving}",
        )


def _port(options: argparse.Namespace, data: dict[str, Any]) -> tuple[list[DoctorFinding], str]:
    """Listen to an unknown serial line; returns findings and a proposed configuration."""
    findings = [] if options.port in doctor_host.ports() else list(doctor_host.serial_port(options.port))
    try:
        text = listen_port(options.port, options.baudrate, options.seconds)
    except DriverError as error:
        return [*findings, DoctorFinding(BAD, options.port, str(error))], ""
    if not text:
        remedy = "does the device send without requests? is the baud rate right?"
        return [*findings, DoctorFinding(BAD, options.port, f"no byte in {options.seconds:g} s", remedy)], ""
    rate = len(text) / options.seconds
    said = f"{rate:.0f} bytes/s, {10 * rate / options.baudrate:.0%} of {options.baudrate} baud"
    findings.append(DoctorFinding(GOOD, options.port, said))
    found, lines, proposal = port_proposal(options.port, options.baudrate, text, options.seconds)
    data["packets"] = found
    findings += [DoctorFinding(GOOD if found else WARN, options.port, line) for line in lines]
    return findings, proposal


def _driver(name: str, config: Config, seconds: float, data: dict[str, Any]) -> Iterator[DoctorFinding]:
    """Listen to a configured wire; yields findings about its frames, its losses and the joints' channels."""
    settings = config.drivers[name]
    channel = getattr(settings, "channel", None) or getattr(settings, "port", "")
    yield from _place(getattr(settings, "interface", ""), str(channel))
    yield from _left_out(name, settings)
    asked = _all_signals(settings)
    try:
        readings, counts = _read(settings, asked, seconds)
    except DriverError as error:
        remedy = (
            "if jointwatch is running, stop it first: only one program can read a wire"
            if isinstance(error, LinkBusyError)
            else ""
        )
        yield DoctorFinding(BAD, name, str(error), remedy)
        return
    data.setdefault("drivers", {})[name] = {"counters": counts}
    yield DoctorFinding(
        GOOD if counts.get("frames") else BAD, name, f"{counts.get('frames', 0) / seconds:.0f} frames/s"
    )
    yield from losses(name, counts, settings.losses)
    seen = {asked[channel].signal: _values(readings, channel) for channel in np.unique(readings["channel"]).tolist()}
    data["drivers"][name]["signals"] = seen
    for route in routes(config):
        if route.driver == name:
            yield from _needed(route, seen, config)
            yield from _coarse(route, readings, asked, config)
    yield from _mistakes(name, readings, asked, config)
    for signal, values in seen.items():
        moves = "moves" if values["high"] > values["low"] else "stands"
        said = f"{moves}, {values['low']:.6g} to {values['high']:.6g}, {values['rate']:.4g} Hz"
        yield DoctorFinding(GOOD, f"{name}.{signal}", said)


def _left_out(name: str, settings: AnyDriver) -> Iterator[DoctorFinding]:
    """Findings about messages of a DBC that are not used because of a mistake; their frames count as unmatched."""
    for message, why in getattr(getattr(settings, "layout", None), "unsound", {}).items():
        yield DoctorFinding(NOTE, f"{name}.{message}", f"left out: {why}", "correct it in the DBC, if it is needed")


def _all_signals(settings: AnyDriver) -> list[Wanted]:
    """Every signal that the driver can deliver."""
    found: list[Wanted] = []
    for signal in settings.signals():
        one = Wanted(len(found), signal)
        try:
            settings.check([one])
        except LayoutError:
            continue
        found.append(one)
    return found


def _read(settings: AnyDriver, asked: list[Wanted], seconds: float) -> tuple[NDArray[np.void], dict[str, int]]:
    parts = [empty()]
    with settings.open(asked) as driver:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                parts.append(driver.read(min(left, 0.1)).copy())
            except EndOfFileError:
                break
        return np.concatenate(parts), dict(driver.counters())


def _values(readings: NDArray[np.void], channel: int) -> dict[str, float]:
    mine = readings[readings["channel"] == channel]
    known = mine["value"][np.isfinite(mine["value"])]
    span = (int(mine["time"].max()) - int(mine["time"].min())) * 1e-9
    return {
        "count": len(mine),
        "rate": (len(mine) - 1) / span if span > 0 else 0.0,
        "low": float(known.min()) if len(known) else np.nan,
        "high": float(known.max()) if len(known) else np.nan,
    }


def _needed(route: Route, seen: Mapping[str, Mapping[str, float]], config: Config) -> Iterator[DoctorFinding]:
    """Findings whether a joint's channel is received, has the configured rate, and moves."""
    subject, joint = f"{route.joint}.{route.role}", config.joints[route.joint]
    found = seen.get(route.signal)
    if found is None:
        text = f"{route.driver}.{route.signal} is not received"
        yield DoctorFinding(BAD, subject, text, "is that device on? are its id, length or packet as configured?")
        return
    channel = joint.channels.get(route.role)
    expected = (channel.rate if channel else None) or joint.rate
    if abs(found["rate"] / expected - 1) > RATE_TOLERANCE:
        text = f"comes at {found['rate']:.4g} Hz, but {expected:g} Hz are configured"
        yield DoctorFinding(WARN, subject, text, f"set rate = {found['rate']:.4g}, if no frames are lost")
    elif not found["high"] > found["low"]:
        yield DoctorFinding(
            NOTE,
            subject,
            f"does not move: {found['low']:.6g}",
            "move the joint, or check the signal's place in the frame",
        )
    else:
        yield DoctorFinding(GOOD, subject, f"comes at {found['rate']:.4g} Hz and moves")


def _coarse(route: Route, readings: NDArray[np.void], asked: list[Wanted], config: Config) -> Iterator[DoctorFinding]:
    """A finding if the encoder's measured steps are too coarse for the joint's inertia."""
    joint = config.joints[route.joint]
    channel = joint.channels.get(route.role)
    if route.role != "position" or channel is None:
        return
    from estimators.quantisation.encoder_steps import EncoderSteps  # a slow import, needed only for joints

    mine = readings[np.isin(readings["channel"], [i for i, one in enumerate(asked) if one.signal == route.signal])]
    steps = EncoderSteps()
    steps.absorb(mine["time"].astype(np.int64), channel.scale * mine["value"])
    if said := coarse(joint, steps.step):
        level, remedy = NOTE, "a finer encoder, or one on the motor's side of the gear, shows more"
        yield DoctorFinding(
            level if joint.conditioning.half_width is None else WARN, f"{route.joint}.position", said, remedy
        )


def _mistakes(name: str, readings: NDArray[np.void], asked: list[Wanted], config: Config) -> Iterator[DoctorFinding]:
    """Findings about mistakes in the configuration, as the motion of the joints on this wire shows them."""
    from daq.replay.plausibility import mistakes_in  # a slow import, needed only for joints

    parts, places = [empty()], {one.signal: i for i, one in enumerate(asked)}
    for number, route in enumerate(routes(config)):
        if route.driver == name and route.signal in places:
            part = readings[readings["channel"] == places[route.signal]].copy()
            part["channel"], part["value"] = number, route.scale * part["value"] + route.offset
            parts.append(part)
    mine = np.concatenate(parts)
    for joint, reasons in mistakes_in([mine[np.argsort(mine["time"], kind="stable")]], config).items():
        for reason in reasons:
            yield DoctorFinding(WARN, joint, str(reason), reason.todo)


def _talk_map(talk: Talk) -> dict[str, Any]:
    return talk._asdict() | {"extended": bool(talk.id & EXTENDED), "id": talk.id & ~EXTENDED}
