"""The processes of the service.

`supervisor.py` starts and restarts them, by `child.py`, `heartbeat.py`, `runtime_folder.py` and `systemd.py`;
`process.py` is what every process does at its start; `driver.py` is the driver process (the others are `process.py` of
`core`, `outlet` and `recording`). `kernels.py` compiles ahead, unless `carried_kernels.py` has a folder of kernels that
fits; `cluster.py` runs work on Dask; `logs.py` writes logs.
"""
