"""The stream of a jointwatch service, typed: ZeroMQ and MessagePack are all that it needs.

```python
from jointwatch_client import ESTIMATE, Subscriber

with Subscriber("tcp://127.0.0.1:5556", topics=(ESTIMATE.topic,)) as updates:
    for estimate in updates.of(ESTIMATE):
        print(estimate["joint"], estimate["parameters"], estimate["deviations"])
```

It only reads. The types in `messages.py` are made from the schema by `jointwatch schema --as python`.
"""

from jointwatch_client.family import Family as Family
from jointwatch_client.keys import KeyFileError as KeyFileError
from jointwatch_client.messages import *  # noqa: F403
from jointwatch_client.subscriber import Continuity as Continuity
from jointwatch_client.subscriber import RefusedError as RefusedError
from jointwatch_client.subscriber import Subscriber as Subscriber
