"""At least two examples for every command, shown at the end of its --help; tests/contracts/pages/test_help.py tests
them."""

from typing import Final

EXAMPLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "init": (
        ("jointwatch init", "writes jointwatch.toml, with a comment on every line"),
        ("jointwatch init --from robot.dbc arm.toml", "joints and signals proposed from a DBC, a URDF or a CSV"),
        ("jointwatch init --from arm.csv --columns arm.columns.toml arm.toml", "with your answers in the table"),
    ),
    "check": (
        ("jointwatch check arm.toml", "all mistakes at once, with their lines"),
        ("jointwatch check arm.toml && jointwatch run arm.toml", "run only if it has no mistakes"),
    ),
    "run": (
        ("jointwatch run arm.toml", "until Ctrl-C; the page is at [publish] page"),
        ("jointwatch run arm.toml --duration 60", "for a minute"),
    ),
    "rig": (
        ("jointwatch rig rigid --joints 7 --wire udp --config rig.toml", "seven joints, and a configuration for them"),
        ("jointwatch rig rigid --jump 60:coulomb=1.6 --json", "friction jumps after a minute; output as JSON"),
    ),
    "demo": (
        ("jointwatch demo", "an elastic joint, the service and the page"),
        ("jointwatch demo --rig rigid --page 18080 --no-browser", "another rig, the page on another port"),
    ),
    "reproduce": (
        ("jointwatch reproduce emps --data ~/recordings", "a published recording, from this folder"),
        ("jointwatch reproduce irj-case1 --json", "every figure as one JSON object"),
    ),
    "bench": (
        ("jointwatch bench rls", "one benchmark"),
        ("jointwatch bench buses --json", "its figures as one JSON object"),
    ),
    "compile": (
        ("jointwatch compile", "every kernel, for a quick first start"),
        ("jointwatch compile --into jointwatch_kernels", "and a folder of them for an image, see docs/release.md"),
    ),
    "listen": (
        ("jointwatch listen --topic estimate/elbow", "the estimates of one joint"),
        ("jointwatch listen --json --count 10", "ten updates, one JSON object a line"),
    ),
    "replay": (
        ("jointwatch replay arm.csv arm.columns.toml", "a recording of another program, with its table of columns"),
        ("jointwatch replay recordings/arm-20260131T120000Z.mcap --check", "our recording, compared with its updates"),
    ),
    "columns": (
        ("jointwatch columns arm.csv > arm.columns.toml", "one file with all joints"),
        ("jointwatch columns q.csv dq.csv tau.csv t.csv > arm.columns.toml", "a file for each quantity, in one folder"),
    ),
    "decode": (
        ("jointwatch decode candump.log --dbc robot.dbc", "what is decoded, what is not, and why"),
        ("jointwatch decode candump.log --dbc robot.dbc --values > values.csv", "every value"),
    ),
    "top": (
        ("jointwatch top", "the service of this machine"),
        ("jointwatch top --page http://arm1:8080 --once", "the service of another machine, printed once"),
    ),
    "export": (
        ("jointwatch export recordings/arm-20260131T120000Z.mcap", "tables in CSV, in a folder of that name"),
        ("jointwatch export run-*.mcap --to parquet --out tables", "consecutive files, as Parquet"),
    ),
    "report": (
        ("jointwatch report recordings/arm-20260131T120000Z.mcap", "one page next to the recording"),
        ("jointwatch report run-*.mcap --out run.html --pdf", "consecutive files, and a PDF"),
    ),
    "skew": (
        ("jointwatch skew arm.csv arm.columns.toml", "delays as lines for the table of columns"),
        ("jointwatch skew candump.log arm.toml", "delays as lines for the configuration"),
    ),
    "identify": (
        ("jointwatch identify arm.urdf run1.csv --test run2.csv --columns arm.columns.toml --out arm.model.toml",
         "learns from one recording, is judged on the other"),
        ("jointwatch identify arm.urdf bag/ --report arm.html", "from a ROS 2 bag, with a report"),
    ),
    "model": (
        ("jointwatch model export arm.model.toml --to mjcf", "the identified robot for MuJoCo"),
        ("jointwatch model diff arm-2025.model.toml arm-2026.model.toml", "what changed within a year"),
    ),
    "fleet": (
        ("jointwatch fleet identify recordings/ --page fleet.html", "every robot and joint compared with its siblings"),
        ("jointwatch fleet collect lake.toml", "stores the summaries of many running services"),
        ("jointwatch fleet watch lake.toml --last 14d", "which robots stand out in the lake, refreshed every minute"),
    ),
    "excite": (
        ("jointwatch excite arm.urdf --limits limits.toml --out motion.csv", "the most informative motion"),
        ("jointwatch excite arm.urdf --limits limits.toml --check mine.csv", "how informative your motion is"),
    ),
    "clearance": (
        ("jointwatch clearance now.csv --columns arm.columns.toml", "the clearance of a bearing, from a recording"),
        (
            "jointwatch clearance now.csv --before new.csv --columns arm.columns.toml",
            "how much it has grown since the other recording",
        ),
    ),
    "doctor": (
        ("jointwatch doctor arm.toml", "traffic, losses and their causes on configured wires"),
        ("jointwatch doctor --interface socketcan --channel can0", "an unknown bus: proposes a configuration"),
    ),
    "changes": (
        ("jointwatch changes arm.toml", "what has changed of each joint, and since when"),
        ("jointwatch changes arm.toml --acknowledge elbow", "seen, and taken care of"),
    ),
    "baseline": (
        ("jointwatch baseline arm.toml", "the values of each joint when it was commissioned"),
        ("jointwatch baseline arm.toml --set", "use the present values from now on"),
    ),
    "history": (
        ("jointwatch history arm.toml --joint elbow --since 90d", "first and last day of each quantity, use, changes"),
        ("jointwatch history arm.toml --since 1y --csv > elbow.csv", "a line for each quantity and day"),
    ),
    "compare": (
        ("jointwatch compare arm.toml@2026-01-31 arm.toml@today", "two days of one robot"),
        ("jointwatch compare arm1.toml arm2.toml", "the last days of two robots"),
    ),
    "schema": (
        ("jointwatch schema config > config.schema.json", "the schema of the configuration, for an editor"),
        ("jointwatch schema --as typescript > jointwatch.d.ts", "the messages of the stream as types"),
    ),
    "reasons": (
        ("jointwatch reasons", "every reason why values may not be used"),
        ("jointwatch reasons waiting_for_motion", "one reason, and what to do"),
    ),
    "keys": (
        ("jointwatch keys keys", "the server's pair, in the folder keys"),
        ("jointwatch keys keys page recorder", "and a pair for each of two clients"),
    ),
    "version": (
        ("jointwatch version", "print the version"),
        ("jointwatch --version", "the same, as an option"),
    ),
}  # fmt: skip


def epilog(command: str) -> str:
    """The examples, as the end of a help text; % is doubled, since argparse formats it."""
    lines = [f"  {line}\n      {text}" for line, text in EXAMPLES.get(command, ())]
    return "examples:\n" + "\n".join(lines).replace("%", "%%")
