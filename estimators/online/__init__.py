"""Live estimators of one joint and of a whole robot (robot/). For a joint read settings.py, joint.py, joint_pass.py,

learning.py and normal_loop.py (rows in, compiled), phases.py (decisions), then the rooms start/, judgement/, monitor/,
eta/ with relearning.py, and reporting/; assembly.py puts parts.py together, checkpoint.py keeps them; gear/ stands
alone.
"""
