"""The outlet: the page, Prometheus metrics and baselines.

`process.py` starts `server.py`, which feeds `history.py` (with `robot_history.py`, `trace.py`, `current_values.py`) and
`metrics.py` and serves the page in `dashboard/`. `web_guard.py` and `connections.py` protect it; `token_request.py`
and `commissioning.py` set baselines. `long_term/` keeps the history of years.
"""
