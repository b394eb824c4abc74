"""What the processes send each other and the public.

`update.py` makes the public messages and the folder `schema` describes their fields; `form.py` packs them quickly;
`curve_points.py` is an internal message. `channel.py` carries readings from drivers to the core, `transcript.py` what
the recorder needs. `sockets.py`, `subscriptions.py`, `keys.py` and `priority.py` are the ZeroMQ side;
`json_messages.py` has the messages in JSON.
"""
