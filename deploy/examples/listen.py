"""Prints what jointwatch says, and what was missed: the whole of a subscriber, with pyzmq and msgpack only.

python listen.py [--endpoint tcp://127.0.0.1:5556] [--topic estimate/] [--count 20]
python listen.py --endpoint tcp://10.0.0.7:5556 --key me.key_secret --server-key server.key
"""

import argparse

import msgpack
import zmq
import zmq.auth

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--endpoint", default="tcp://127.0.0.1:5556")
parser.add_argument("--topic", default="estimate/", help='a prefix: "" is everything')
parser.add_argument("--count", type=int, default=0, help="stop after so many updates")
parser.add_argument("--key", help="your .key_secret, where the stream is locked")
parser.add_argument("--server-key", help="the server's .key")
options = parser.parse_args()

with zmq.Context() as context, context.socket(zmq.SUB) as socket:
    socket.subscribe(options.topic)
    socket.rcvtimeo = 10_000  # ms
    if options.key:
        socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(options.key)
        socket.curve_serverkey = zmq.auth.load_certificate(options.server_key)[0]
    socket.connect(options.endpoint)

    last: dict[bytes, tuple[int, int]] = {}  # topic → boot, seq
    seen = 0
    while not options.count or seen < options.count:
        topic, payload = socket.recv_multipart()
        update = msgpack.unpackb(payload)
        boot, seq = update["boot"], update["seq"]
        before = last.get(topic)
        if before and before[0] == boot:
            if seq <= before[1]:
                continue  # sent again for someone who has just joined
            if seq > before[1] + 1:
                print(f"{topic.decode()}: {seq - before[1] - 1} missed")
        last[topic] = boot, seq
        seen += 1
        if topic.startswith(b"estimate/"):
            sigma = update["deviations"]
            values = ", ".join(
                f"{name} {value:.4g} ± {sigma[name]:.2g}" for name, value in update["parameters"].items()
            )
            print(f"{update['joint']} {update['phase']} ({update['health']['status']}): {values}")
        else:
            print(topic.decode(), {key: value for key, value in update.items() if key not in ("v", "robot", "boot")})
