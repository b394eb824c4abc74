"""The messages between the processes of the service, and the public stream.

`update.py` makes the public messages and the folder `schema` describes their fields; `form.py` packs them quickly;
`curve_points.py` makes internal messages. `channel.py` carries readings from drivers to the core, and `transcript.py`
carries the data for the recorder. `sockets.py`, `subscriptions.py`, `keys.py` and `priority.py` contain the ZeroMQ
part; `json_messages.py` converts messages to JSON.
"""
