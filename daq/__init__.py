"""Data acquisition and the service: from the wires of a robot to published estimates.

The rooms, in the order in which to read them:

- `core`: the path of the data. Begin with `core/pipeline.py`, which tells the whole idea in one page.
- `stream`: what the processes send each other and the public, and how (`update.py`, `schema`, `channel.py`).
- `processes`: the supervisor, the driver process, and what all processes share.
- `config`: the configuration file, its checks, and its errors in words.
- `outlet`: the web server: page, Prometheus metrics, baselines; `gateways`: the stream for other systems.
- `recording`: the recorder and the readers of recordings; `replay`: recordings through the pipeline again.
- `state`: files that outlive a restart; `fleet`: many recordings at once.
- `commands`: one module per command of `jointwatch`; `subscriber.py`: the client of the stream
  (`jointwatch_client`) with a real-time priority.

Imports run from the end of this list towards the stream; `pyproject.toml` has the contract.
"""
