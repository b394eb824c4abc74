"""Raw channels are sent only while somebody asks for them: some of the samples, as they came."""

import msgpack
import numpy as np
import pytest

from daq.core.followers.channel_watch import KEPT, RATE, ChannelWatch
from daq.stream.curve_points import channel_rows


@pytest.mark.parametrize("rate", [50.0, 200.0, 1000.0, 1700.0])
@pytest.mark.parametrize("parts", [1, 7, 300])
def test_every_nth_sample_is_kept_however_the_samples_come(rate: float, parts: int) -> None:
    watch = ChannelWatch("elbow", ("position", "torque"), rate)
    count = int(1.5 * rate)
    ticks = np.arange(count, dtype=np.int64) * round(1e9 / rate)
    samples = np.column_stack([np.arange(count), -np.arange(count)]).astype(np.float64)
    for part in np.array_split(np.arange(count), min(parts, count)):
        watch.absorb(ticks[part], samples[part])
    [message] = watch.messages_due(10**18)
    topic, update = message[0].decode(), msgpack.unpackb(message[1])
    assert (topic, update["channels"]) == ("channels/elbow", ["position", "torque"])
    rows = channel_rows(update)
    every = max(1, int(np.ceil(rate / RATE)))
    expected = np.arange(0, count, every)[-KEPT:]
    np.testing.assert_array_equal(rows[:, 1], expected)
    np.testing.assert_array_equal(rows[:, 2], -expected)
    np.testing.assert_allclose(rows[:, 0], 1e9 + expected / rate, atol=1e-6)
    assert watch.messages_due(0) == []
