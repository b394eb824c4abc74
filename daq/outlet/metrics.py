"""Every metric of the service in one table, and how updates and status reports set it.

Metrics have base units (seconds, …). Counters end in ``_total`` and never fall: a total that restarts with the core or
a driver is followed by its increments. Labels are bounded by the configuration (joints, parameters, drivers, gateways,
processes) and by the code (causes, phases, status).
"""

import math
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import choose_encoder

from daq.state.baselines import friction_names
from daq.stream.update import EVENTS, ROBOT
from daq.subscriber import Continuity
from estimators.base import Knowledge, Phase, Status


class Metric(NamedTuple):
    """One line of the table; the exported name is ``jointwatch_`` + name."""

    name: str
    kind: type[Counter] | type[Gauge] | type[Histogram]
    labels: tuple[str, ...]
    unit: str
    help: str


TABLE: Final = (
    Metric("samples_total", Counter, ("joint",), "", "Samples that reached the joint's estimator."),
    Metric("samples_lost_total", Counter, ("joint", "cause"), "", "Samples lost, late or unusable, by cause."),
    Metric("samples_interpolated_total", Counter, ("joint",), "", "Samples given across missing values."),
    Metric("readings_total", Counter, ("driver",), "", "Readings that the core received."),
    Metric("readings_lost_total", Counter, ("driver",), "", "Readings that never reached the core (gaps in sequence)."),
    Metric("frames_total", Counter, ("driver",), "", "Frames or packets that the driver took from the wire."),
    Metric("decode_errors_total", Counter, ("driver", "cause"), "", "Frames or packets not decoded, by cause."),
    Metric("own_frames_total", Counter, ("driver",), "", "Frames on the bus that this host sent itself."),
    Metric("restamped_frames_total", Counter, ("driver",), "", "Frames stamped as taken: their own stamp was untrue."),
    Metric(
        "bus_busy_seconds_total", Counter, ("driver",), "", "Time that frames took on the bus: its rate is its load."
    ),
    Metric("driver_up", Gauge, ("driver",), "", "1 while the driver's bus or port is open."),
    Metric("malformed_batches_total", Counter, (), "", "Batches that the core could not read."),
    Metric("updates_total", Counter, ("joint",), "", "Updates that the core published."),
    Metric("updates_missed_total", Counter, ("joint",), "", "Messages that never reached the outlet (gaps in seq)."),
    Metric("events_total", Counter, ("joint", "kind"), "", "Events of the joint, by kind."),
    Metric("estimator_total", Counter, ("joint", "cause"), "", "What the joint's estimator counts, by name."),
    Metric("update_latency_seconds", Histogram, ("joint",), "s", "From a frame's arrival to its update."),
    Metric("update_timestamp_seconds", Gauge, ("joint",), "s", "Unix time that the last estimate speaks of."),
    Metric("parameter_value", Gauge, ("joint", "parameter"), "", "Estimate, in the unit of parameter_info."),
    Metric("parameter_deviation", Gauge, ("joint", "parameter"), "", "Standard deviation of the estimate."),
    Metric("parameter_known", Gauge, ("joint", "parameter"), "", "1 where the value may be used, see states; else 0."),
    Metric("parameter_info", Gauge, ("joint", "parameter", "unit"), "", "Always 1; carries the parameter's unit."),
    Metric("prediction_error_ratio", Gauge, ("joint",), "", "Rms prediction error over rms measured."),
    Metric("forgetting_factor", Gauge, ("joint",), "", "Lambda of the last update; 1 forgets nothing."),
    Metric("startup_progress_ratio", Gauge, ("joint",), "", "How much of the starting procedure is done."),
    Metric("phase", Gauge, ("joint", "phase"), "", "1 for the phase that the estimator is in, 0 for the others."),
    Metric("health", Gauge, ("joint", "status"), "", "1 for the status of the values, 0 for the others."),
    Metric("drift_ratio", Gauge, ("joint", "parameter"), "", "Change against the baseline, over its magnitude."),
    Metric("drift_z", Gauge, ("joint", "parameter"), "", "The change in its own standard deviations."),
    Metric("drifted", Gauge, ("joint", "parameter"), "", "1 while the parameter is beyond its limits of drift."),
    Metric("change_open", Gauge, ("joint", "parameter"), "", "1 while it has a change that has not been acknowledged."),
    Metric(
        "change_percent", Gauge, ("joint", "parameter"), "", "By how much it has changed, per cent of the reference."
    ),
    Metric("wear_ratio", Gauge, ("joint",), "", "Growth of dry friction, corrected for heat and load, as a share."),
    Metric("wear_deviation_ratio", Gauge, ("joint",), "", "Standard deviation of wear_ratio."),
    Metric("wear_told", Gauge, ("joint",), "", "1 once wear is certain."),
    Metric("wear_limit_seconds", Gauge, ("joint", "share"), "s", "Days in use until its limit, with this probability."),
    Metric("lost_motion_known", Gauge, ("joint",), "", "1 while the motion says how much lost motion the gear has."),
    Metric("lost_motion_reversals", Gauge, ("joint",), "", "Reversals of the gear's load in the window that says it."),
    Metric("lost_motion_grown", Gauge, ("joint",), "", "1 while lost motion is beyond what it was at first."),
    Metric("clearance_known", Gauge, ("joint",), "", "1 while the motion says how much clearance the bearing has."),
    Metric("clearance_grown", Gauge, ("joint",), "", "1 while the clearance is beyond what it was at first."),
    Metric("baseline_timestamp_seconds", Gauge, ("joint",), "s", "Unix time at which the baseline was set."),
    Metric("robot_residual", Gauge, ("joint",), "", "Torque that the whole robot's model does not explain, N·m or N."),
    Metric("robot_residual_threshold", Gauge, ("joint",), "", "Residual from which a contact is reported, N·m or N."),
    Metric("robot_contact", Gauge, ("joint",), "", "1 while the joint's residual is beyond its threshold."),
    Metric("robot_compensation_used", Gauge, ("joint",), "", "1 while what was learnt of its residual is used."),
    Metric("robot_compensation_ratio", Gauge, ("joint",), "", "Rms of that residual with it over that without it."),
    Metric("robot_payload_carried", Gauge, (), "", "1 while a body is carried that the whole robot's model lacks."),
    Metric("robot_payload_mass", Gauge, (), "", "Its mass as far as it is known, kg."),
    Metric("robot_payload_mass_deviation", Gauge, (), "", "Standard deviation of that mass, kg."),
    Metric("robot_tool_differs", Gauge, (), "", "1 while what is carried differs from the controller's tool."),
    Metric("robot_tool_mass_difference", Gauge, (), "", "What is carried less the controller's tool, kg."),
    Metric("robot_blocks_total", Counter, (), "", "Seconds of motion that have taught the whole robot's model."),
    Metric(
        "mechanism_residual", Gauge, ("joint",), "", "Torque that the mechanism's model does not explain, N·m or N."
    ),
    Metric("mechanism_residual_threshold", Gauge, ("joint",), "", "Residual from which it is reported, N·m or N."),
    Metric("mechanism_contact", Gauge, ("joint",), "", "1 while the drive's residual is beyond its threshold."),
    Metric("mechanism_friction_ratio", Gauge, ("joint",), "", "Friction that the drive feels over the model's."),
    Metric("mechanism_friction_ratio_deviation", Gauge, ("joint",), "", "Standard deviation of that ratio."),
    Metric("mechanism_radial_force", Gauge, ("joint",), "N", "Force across its axis that a joint carries."),
    Metric("core_restarts_total", Counter, (), "", "Restarts of the core that the outlet saw."),
    Metric("process_up", Gauge, ("process",), "", "1 while the process runs and gives signs of life."),
    Metric("process_silence_seconds", Gauge, ("process",), "s", "Since the last sign of life of the process."),
    Metric("process_deadline_seconds", Gauge, ("process",), "s", "Of silence after which it is started anew."),
    Metric("process_restarts_total", Counter, ("process",), "", "Restarts of the process by the service."),
    Metric("malformed_updates_total", Counter, (), "", "Messages that the outlet could not read."),
    Metric("subscribers_refused_total", Counter, (), "", "Subscribers without a listed key (each attempt counts)."),
    Metric("recorder_up", Gauge, (), "", "1 while what happens is written to a file."),
    Metric("recorder_written_timestamp_seconds", Gauge, (), "s", "Unix time of the last block that is in a file."),
    Metric("recorder_bytes_total", Counter, (), "", "Bytes of recordings written."),
    Metric("recorder_blocks_lost_total", Counter, (), "", "Blocks of readings and updates that are in no file."),
    Metric("history_intervals_total", Counter, (), "", "Minutes that were written into the history file."),
    Metric("history_intervals_lost_total", Counter, (), "", "Minutes that are in no file: it could not be written."),
    Metric("page_clients", Gauge, (), "", "Open dashboard pages."),
    Metric("page_skipped_total", Counter, (), "", "Batches not sent to a page that was too slow."),
    Metric("gateway_clients", Gauge, ("gateway",), "", "Who is connected to the gateway, or 1 while it is connected."),
    Metric("gateway_sent_total", Counter, ("gateway",), "", "Messages that the gateway sent, to all clients together."),
    Metric("gateway_dropped_total", Counter, ("gateway",), "", "Messages not sent: a client too slow, a broker away."),
    Metric("gateway_missed_total", Counter, ("gateway",), "", "Messages that never reached the gateway (gaps in seq)."),
    Metric("notifications_sent_total", Counter, ("channel",), "", "Changes reported by webhook or mail."),
    Metric("notifications_retried_total", Counter, ("channel",), "", "Attempts that failed and are made again."),
    Metric("notifications_dropped_total", Counter, ("channel", "cause"), "", "Changes not reported, by cause."),
    Metric("build_info", Gauge, ("version", "python"), "", "Always 1; carries the versions."),
)
DAY: Final = 86_400.0  # s
QUANTILES: Final = (0.1, 0.5, 0.9)  # of the days to a limit
# s; from the fastest local socket to what is certainly wrong
LATENCY_BUCKETS: Final = (50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 0.1, 0.2, 0.5, 1.0)
# families whose messages are numbered
COUNTED: Final = frozenset(
    ("estimate", "residual", "event", "drift", "change", "wear", "robot", "mechanism", "lost_motion", "clearance")
)
# counters of a driver that count no errors
TRAFFIC: Final = {
    "frames": "frames_total",
    "packets": "frames_total",
    "own_frames": "own_frames_total",
    "restamped": "restamped_frames_total",
    "busy_us": "bus_busy_seconds_total",
}
# the fields of an estimate that gauges show
GAUGED: Final = frozenset(
    {"timestamp", "error", "forgetting", "progress", "parameters", "deviations", "phase", "health"}
)
BASE_UNITS: Final = {"busy_us": 1e-6}


class Metrics:
    """The table with its values; `absorb` sets them, `exposition` renders them."""

    def __init__(self, units: Mapping[str, Mapping[str, str]]) -> None:
        """units: joint → parameter → unit."""
        disable_created_metrics()  # type: ignore[no-untyped-call]  # one more series per child without information here
        self._registry = CollectorRegistry()
        self._families: dict[str, Any] = {metric.name: self._declare(metric) for metric in TABLE}
        self._children: dict[tuple[str, ...], Any] = {}
        self._totals: dict[tuple[str, ...], tuple[object, float]] = {}
        self._continuity = Continuity()
        self._joints: set[str] = set()  # joints that had an update
        self._newest: dict[str, Mapping[str, Any]] = {}  # joint → last estimate, not in the gauges yet
        self._restarts = 0  # restarts of the core that were counted
        for joint, parameters in units.items():
            self._get("updates_missed_total", joint)
            for kind in EVENTS:  # from the start: a counter that begins with an event hides that event
                self._get("events_total", joint, kind)
            for parameter, unit in parameters.items():
                self._get("parameter_info", joint, parameter, unit).set(1)
        self._get("build_info", _version(), platform.python_version()).set(1)

    def absorb(self, topic: str, update: Mapping[str, Any]) -> None:
        """One update or internal status map."""
        family, _, name = topic.partition("/")
        if family in COUNTED:
            self._follow_sequence(topic, update)
        if family == "estimate":
            self._estimate(name, update)
        elif topic == "robot":
            self._whole(update)
        elif topic == "robot/parameters":
            self._friction(update)
        elif topic == "mechanism":
            self._mechanism(update)
        elif family == "drift":
            self._drift(name, update)
        elif family == "change":
            self._changes(name, update)
        elif family == "wear":
            self._wear(name, update)
        elif family == "lost_motion":
            self._gear(name, update)
        elif family == "clearance":
            self._get("parameter_value", name, "clearance").set(update["clearance"])
            self._get("parameter_deviation", name, "clearance").set(update["deviation"])
            self._get("clearance_known", name).set(update["known"])
            self._get("clearance_grown", name).set(update["grown"])
        elif family == "event":
            self._get("events_total", name, update["kind"]).inc()
        elif family == "status":
            self._status(update)
        elif family == "process":
            self._process(name, update)
            self._total(update["restarts"], update["boot"], "process_restarts_total", name)
        elif family == "recorder":
            self._recorder(update)
        elif family == "gateway":
            self._get("gateway_clients", name).set(update["clients"])
            for what in ("sent", "dropped", "missed"):
                self._total(update[what], update["start"], f"gateway_{what}_total", name)

    def stale(self, processes: Mapping[str, Mapping[str, Any]], core_away: bool) -> None:
        """Update what only silence shows: the state of the processes, and joints while the core is down."""
        for name, update in processes.items():
            self._process(name, update)
        if core_away:
            self._tell_newest()
        for joint in self._joints if core_away else ():
            self._phase(joint, Phase.FAULTED, Status.FAULTED)

    def page(self, clients: int, skipped: int) -> None:
        """Set what the page's server counts."""
        self._get("page_clients").set(clients)
        self._total(skipped, "outlet", "page_skipped_total")

    def refused(self, total: int) -> None:
        """Set the number of subscribers that the stream refused."""
        self._total(total, "outlet", "subscribers_refused_total")

    def kept(self, written: int, lost: int) -> None:
        """Set how many minutes of history were written, and lost."""
        self._total(written, "outlet", "history_intervals_total")
        self._total(lost, "outlet", "history_intervals_lost_total")

    def notified(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Set what each channel of notifications has counted."""
        for channel, results in counts.items():
            for result in ("sent", "retried", *results):
                what, _, cause = result.partition("_")
                key = (f"notifications_{what}_total", channel, *([cause] if cause else []))
                self._total(results.get(result, 0), "outlet", *key)

    def malformed(self, total: int) -> None:
        """Set the number of messages that the outlet could not read."""
        self._total(total, "outlet", "malformed_updates_total")

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Body and content type of a scrape that accepts these formats."""
        self._tell_newest()
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def _declare(self, metric: Metric) -> Counter | Gauge | Histogram:
        name = f"jointwatch_{metric.name}"
        if metric.kind is Histogram:
            return Histogram(name, metric.help, metric.labels, registry=self._registry, buckets=LATENCY_BUCKETS)
        return metric.kind(name, metric.help, metric.labels, registry=self._registry)

    def _get(self, *key: str) -> Any:
        """The child for (metric, label values …), cached."""
        child = self._children.get(key)
        if child is None:
            family = self._families[key[0]]
            child = self._children[key] = family.labels(*key[1:]) if len(key) > 1 else family
        return child

    def _total(self, total: float, source: object, *key: str) -> None:
        """Follow a total by its increments; it restarts from zero with its source (another boot, or a fall)."""
        last_source, last = self._totals.get(key, (source, 0))
        self._totals[key] = (source, total)
        self._get(*key).inc(total - last if source == last_source and total >= last else total)

    def _follow_sequence(self, topic: str, update: Mapping[str, Any]) -> None:
        missing = self._continuity.follow(topic, update)
        if missing:
            self._get("updates_missed_total", update.get("joint", ROBOT)).inc(missing)
        if self._restarts != self._continuity.restarts:
            self._get("core_restarts_total").inc(self._continuity.restarts - self._restarts)
            self._restarts = self._continuity.restarts

    def _estimate(self, joint: str, update: Mapping[str, Any]) -> None:
        """Count an estimate; the gauges are set only when they are scraped, which is far less often."""
        if not update.keys() >= GAUGED:  # an error now, not at the next scrape
            raise KeyError(*sorted(GAUGED - update.keys()))
        self._get("update_latency_seconds", joint).observe(update["latency"])
        self._joints.add(joint)
        self._newest[joint] = update

    def _tell_newest(self) -> None:
        while self._newest:
            joint, update = self._newest.popitem()
            with suppress(TypeError, ValueError):  # invalid numbers: the gauges of this joint stay as they were
                self._set_gauges(joint, update)

    def _set_gauges(self, joint: str, update: Mapping[str, Any]) -> None:
        self._get("update_timestamp_seconds", joint).set(update["timestamp"])
        self._get("prediction_error_ratio", joint).set(update["error"])
        self._get("forgetting_factor", joint).set(update["forgetting"])
        self._get("startup_progress_ratio", joint).set(update["progress"] / 100)
        for name, value in update["parameters"].items():
            self._get("parameter_value", joint, name).set(value)
        for name, value in update["deviations"].items():
            self._get("parameter_deviation", joint, name).set(value)
        states = update.get("states", {})
        for name in update["parameters"]:
            known = states.get(name, {}).get("state") == Knowledge.KNOWN
            self._get("parameter_known", joint, name).set(float(known))
        self._phase(joint, update["phase"], update["health"]["status"])

    def _whole(self, update: Mapping[str, Any]) -> None:
        """Set the robot's metrics; for those that joints have as well, the robot is one more joint."""
        if ROBOT not in self._joints:
            self._joints.add(ROBOT)
            for kind in EVENTS:
                self._get("events_total", ROBOT, kind)
        self._get("update_timestamp_seconds", ROBOT).set(update["timestamp"])
        self._get("startup_progress_ratio", ROBOT).set(update["progress"] / 100)
        self._phase(ROBOT, update["phase"], update["health"]["status"])
        for joint, values in update["joints"].items():
            self._get("robot_residual", joint).set(values["residual"])
            self._get("robot_residual_threshold", joint).set(values["threshold"])
            self._get("robot_contact", joint).set(values["contact"])
        payload = update["payload"]
        self._get("robot_payload_carried").set(payload["carried"])
        self._get("robot_payload_mass").set(payload["mass"])
        self._get("robot_payload_mass_deviation").set(payload["mass_deviation"])
        if (tool := update.get("tool")) is not None:
            self._get("robot_tool_differs").set(tool["differs"])
            self._get("robot_tool_mass_difference").set(tool["mass"])

    def _friction(self, update: Mapping[str, Any]) -> None:
        self._total(update["learnt"], update["boot"], "robot_blocks_total")
        for joint, one in update["compensation"].items():
            self._get("robot_compensation_used", joint).set(one["on"])
            self._get("robot_compensation_ratio", joint).set(one["ratio"])
        for joint, one in update["friction"].items():
            for name, value, deviation in zip(friction_names([joint]), one["torques"], one["deviations"], strict=True):
                self._get("parameter_value", ROBOT, name).set(value)
                self._get("parameter_deviation", ROBOT, name).set(deviation)

    def _phase(self, joint: str, now: str, health: str) -> None:
        for phase in Phase:
            self._get("phase", joint, phase).set(phase == now)
        for status in Status:
            self._get("health", joint, status).set(status == health)

    def _mechanism(self, update: Mapping[str, Any]) -> None:
        for drive, values in update["drives"].items():
            self._get("mechanism_residual", drive).set(values["residual"])
            self._get("mechanism_residual_threshold", drive).set(values["threshold"])
            self._get("mechanism_contact", drive).set(values["contact"])
            self._get("mechanism_friction_ratio", drive).set(values["friction_ratio"])
            self._get("mechanism_friction_ratio_deviation", drive).set(values["friction_ratio_deviation"])
        for joint, values in update["joints"].items():
            self._get("mechanism_radial_force", joint).set(values["radial"])

    def _process(self, name: str, update: Mapping[str, Any]) -> None:
        self._get("process_up", name).set(update["up"])
        self._get("process_silence_seconds", name).set(update.get("age", 0.0))
        self._get("process_deadline_seconds", name).set(update.get("deadline", 0.0))

    def _recorder(self, update: Mapping[str, Any]) -> None:
        self._get("recorder_up").set(update["up"])
        self._get("recorder_written_timestamp_seconds").set(update["written"])
        self._total(update["bytes"], update["start"], "recorder_bytes_total")
        self._total(update["lost"], update["start"], "recorder_blocks_lost_total")

    def _drift(self, joint: str, update: Mapping[str, Any]) -> None:
        self._get("baseline_timestamp_seconds", joint).set(update["since"])
        for name, percent in update["percent"].items():
            self._get("drift_ratio", joint, name).set(percent / 100)
            self._get("drift_z", joint, name).set(update["z"][name])
            self._get("drifted", joint, name).set(name in update["drifted"])

    def _wear(self, joint: str, update: Mapping[str, Any]) -> None:
        self._get("wear_ratio", joint).set(update.get("wear", math.nan))
        self._get("wear_deviation_ratio", joint).set(update.get("deviation", math.nan))
        self._get("wear_told", joint).set(update["told"])
        left = update["left"] or (math.nan,) * len(QUANTILES)
        for quantile, days in zip(QUANTILES, left, strict=True):
            self._get("wear_limit_seconds", joint, f"{quantile:g}").set(days * DAY)

    def _changes(self, joint: str, update: Mapping[str, Any]) -> None:
        """Set a parameter's metrics from its newest record."""
        for record in update["records"]:
            self._get("change_open", joint, record["parameter"]).set(not record["acknowledged"])
            self._get("change_percent", joint, record["parameter"]).set(record["percent"])

    def _gear(self, joint: str, update: Mapping[str, Any]) -> None:
        """Set the gear's metrics; its numbers are parameters of the joint, NaN where they are not known."""
        for what, values in (("parameter_value", "parameters"), ("parameter_deviation", "deviations")):
            for name, value in update[values].items():
                self._get(what, joint, name).set(value)
        self._get("lost_motion_known", joint).set(update["known"])
        self._get("lost_motion_reversals", joint).set(update["reversals"])
        self._get("lost_motion_grown", joint).set(update["grown"])

    def _status(self, update: Mapping[str, Any]) -> None:
        boot = update["boot"]
        self._total(update.get("malformed", 0), boot, "malformed_batches_total")
        for joint, totals in update["joints"].items():
            self._total(totals["samples"], boot, "samples_total", joint)
            self._total(totals["updates"], boot, "updates_total", joint)
            self._total(totals.get("interpolated", 0), boot, "samples_interpolated_total", joint)
            for what, count in totals.get("estimator", {}).items():
                self._total(count, boot, "estimator_total", joint, what)
            for cause, lost in totals["lost"].items():
                self._total(lost, boot, "samples_lost_total", joint, cause)
        for driver, link in update["drivers"].items():
            self._get("driver_up", driver).set(link["up"])
            self._total(link["readings"], boot, "readings_total", driver)
            self._total(link["lost"], boot, "readings_lost_total", driver)
            for cause, count in link["counters"].items():
                if cause in TRAFFIC:
                    self._total(count * BASE_UNITS.get(cause, 1), boot, TRAFFIC[cause], driver)
                else:
                    self._total(count, boot, "decode_errors_total", driver, cause)


def _version() -> str:
    try:
        return version("jointwatch")
    except PackageNotFoundError:
        return "unknown"
