"""Live estimators of one joint, of a whole robot (robot/), of a gear and of a mechanism.

Read for one joint: settings.py and joint.py; rows in, compiled: joint_pass.py, normal_loop.py, learning.py; decisions:
phases.py and change_handling.py, then the rooms start/, judgement/, monitor/, eta/ with relearning.py; updates out:
reporting/. assembly.py builds what parts.py lists, and checkpoint.py stores it.
"""
