"""The words in names of columns: words for quantities, and words that exclude a measurement of a joint."""

from typing import Final

# role → words for it, the clearest first
ROLES: Final[dict[str, tuple[str, ...]]] = {
    "acceleration": ("acceleration", "accelerations", "accel", "acc", "ddq", "qdd", "qddot", "qacc", "ddtheta", "qpp",
                     "ddpos"),
    "velocity": ("velocity", "velocities", "vel", "vels", "speed", "speeds", "dq", "qd", "qdot", "qvel", "jvel",
                 "dtheta", "thetadot", "omega", "qp", "dpos", "dp", "geschwindigkeit", "vitesse", "velocita",
                 "velocidad"),
    "torque": ("torque", "torques", "effort", "efforts", "tau", "taus", "trq", "tq", "tor", "moment", "moments", "eff",
               "qfrc", "drehmoment", "drehmomente", "couple", "couples", "coppia", "coppie"),
    "force": ("force", "forces"),
    "current": ("current", "currents", "curr", "cur", "iq", "amp", "amps", "i", "strom", "courant",
                "corrente", "corriente"),
    "position": ("position", "positions", "pos", "angle", "angles", "qpos", "jpos", "q", "qs", "theta", "ang", "th",
                 "phi", "encoder", "enc", "winkel", "drehwinkel", "lage", "posizione", "posicion", "angolo", "angulo"),
    "load": ("load", "loads"),
    "input": ("u",),  # name of the torque in toolboxes for identification
    "temperature": ("temp", "temps", "temperature", "temperatures", "voltage", "voltages", "volts", "pwm", "winding"),
}  # fmt: skip
# words in Chinese names, the longer ones first
CHINESE: Final = {
    "角加速度": "acceleration", "加速度": "acceleration", "角速度": "velocity", "速度": "velocity", "关节": "joint",
    "位置": "position", "角度": "angle", "力矩": "torque", "扭矩": "torque", "转矩": "torque", "电流": "current",
    "时间": "time", "电机": "motor", "目标": "target", "期望": "desired", "实际": "actual", "温度": "temperature",
    "轴": "axis",
}  # fmt: skip
TIME: Final = (
    "stamp",
    "timestamp",
    "timestamps",
    "time",
    "times",
    "t",
    "clock",
    "zeit",
    "tijd",
    "temps",
    "tempo",
    "tiempo",
    "sec",
    "secs",
    "ts",
    "tout",
    "tick",
    "duration",
    "elapsed",
)
COUNTERS: Final = (
    "seq",
    "index",
    "sample",
    "samples",
    "frame",
    "step",
    "row",
    "id",
    "nsecs",
    "nanosec",
    "nsec",
    "nanos",
    "cycle",
)

# a name with one of these is a plan, a reference, or the difference from one
REFERENCE: Final = frozenset(
    ("target", "targets", "tgt", "ref", "reference", "references", "cmd", "cmds", "cmptd", "command", "commands",
     "commanded", "desired", "des", "setpoint", "setpoints", "sp", "goal", "goals", "plan", "planned", "nominal",
     "soll", "sollwert", "set", "interp", "trajectory", "traj", "action", "expected", "in", "input", "rel", "reset")
)  # fmt: skip
# a name with one of these is a difference, a bound, or one value for many rows
DERIVED: Final = frozenset(
    ("error", "errors", "err", "residual", "residuals", "res", "diff", "delta", "deviation", "limit", "limits", "max",
     "min", "lower", "upper", "std", "var", "mean", "init", "initial", "offset", "final", "status", "mode", "enable",
     "control", "deflection", "ratio", "norm")
)  # fmt: skip
# a name with one of these is an output of a model, or an external force
MODEL: Final = frozenset(
    ("model", "pred", "predicted", "prediction", "bias", "passive", "sim", "simulated", "ff",
     "feedforward", "gravity", "grav", "coriolis", "nle", "rnea", "external", "ext", "contact", "disturbance", "dist",
     "disturb", "friction", "inertia", "observer", "jacobian", "mass")
)  # fmt: skip
# a name with one of these is what a drive or an observer computed: offered where nothing is measured
ESTIMATED: Final = frozenset(("est", "estimate", "estimated", "estimates", "hat"))
# a name with one of these does not belong to a joint
CARTESIAN: Final = frozenset(
    ("tcp", "cart", "cartesian", "ee", "eef", "effector", "endeffector", "tool", "flange", "pose", "poses", "wrench",
     "ft", "fts", "quat", "quaternion", "orientation", "orient", "xyz", "rpy", "euler", "twist", "odom", "imu", "com",
     "tip", "momentum", "momenta", "linear", "angular", "elbow_config", "accelerometer", "gyro", "marker")
)  # fmt: skip
AXES: Final = frozenset(
    ("x", "y", "z", "w", "rx", "ry", "rz", "qx", "qy", "qz", "qw", "roll", "pitch", "yaw", "px", "py", "pz", "fx", "fy",
     "fz", "tx", "ty", "tz", "mx", "my", "mz", "vx", "vy", "vz")
)  # fmt: skip

# a name that begins with one of these and ends with x, y or z is a Cartesian position or speed: base_pos_x
PLACES: Final = frozenset(("base", "root", "body", "world", "trunk", "pelvis", "torso", "object", "camera", "target"))

MEASURED: Final = frozenset(
    ("actual", "act", "measured", "meas", "msr", "msrd", "ist", "istwert", "real", "feedback", "fb", "fbk", "observed",
     "present", "ac", "absolute", "abs")
)  # fmt: skip
# variants of a measured quantity: each forms its own group, and the group without any of these words is preferred
KINDS: Final[dict[str, str]] = (
    dict.fromkeys(("motor", "mot", "motors", "rotor", "actuator", "drive"), "motor")
    | dict.fromkeys(("link", "links", "se", "secondary", "output", "outer"), "link")
    | dict.fromkeys(("filtered", "filt", "lp", "smooth", "smoothed"), "filtered")
    | dict.fromkeys(("raw", "unfiltered"), "raw")
    | dict.fromkeys(("sensor", "sm", "ati", "loadcell"), "sensor")
)
# words that do not identify a joint
SILENT: Final = frozenset(
    ("joint", "joints", "jnt", "jnts", "j", "axis", "axes", "achse", "achsen", "a", "motor", "of", "the", "states",
     "state", "jointstate", "jointstates", "field", "data", "values", "value", "robot", "arm", "rec", "all",
     "entries", "observation", "obs", "per", "s", "dof", "array", "as", "no", "nr", "log", "header", "wert", "achs",
     "gelenk")
)  # fmt: skip
