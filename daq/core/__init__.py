"""The core: from readings to updates.

Read `pipeline.py` first: it describes the whole path. Then, along the path: `reading_buffer.py` (keeps readings until
an update is due), `align.py` and `batch_pass.py` (sorting, and the compiled pass), `joint_pipeline.py` (one joint) with
`followers/` (everything else that uses its samples, or reports that there are none), `gear_pipeline.py` and
`robot_pipeline.py` (play of a gear or a bearing; the whole robot), `mechanisms/`, `changes/drift.py` (comparison with a
baseline). `process.py` is the process around it, with `checkpoint.py`, `baseline_inbox.py`, `refit_worker.py` and
`replayable_executor.py` (refits that a replay can repeat).
"""
