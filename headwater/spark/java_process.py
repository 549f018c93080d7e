"""The Java of this program's Spark: what it says is kept apart from our output, and it is gone when we end.

PySpark lets it write to our standard output and leaves it behind: it ends by itself some time after us, the first one
of a machine seconds later, and whoever reads our output waits for it.
"""

from __future__ import annotations

import atexit
import os
import subprocess
from collections.abc import Mapping

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

END_SECONDS = 60.0
"""How long it may take to end. Once it also writes down the classes it has loaded, some seconds of a busy core."""

_STDERR = 2

_started: list[subprocess.Popen[bytes]] = []
_OURS = os.getpid()
"""A process that is forked from this one has the list too, and must not end what is not its own."""


def start_java(settings: Mapping[str, str]) -> None:
    """Start it, if this process has none yet; it writes all it says to the standard error of now."""
    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    gateway = launch_gateway(conf, popen_kwargs={"stdout": _STDERR})  # type: ignore[no-untyped-call]  # PySpark has no type for it
    _started.append(gateway.proc)
    SparkContext._ensure_initialized(gateway=gateway)


def _end_java() -> None:
    """Let it end, which it does when its input does; one that does not in time is killed."""
    if os.getpid() != _OURS:
        return
    context = SparkContext._active_spark_context
    if _started and context is not None:
        # PySpark listens to it on a thread, which would complain that it is gone.
        context._accumulatorServer.shutdown()
    while _started:
        process = _started.pop()
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(END_SECONDS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            # Whoever presses Ctrl-C now wants the end of the program, which is near.
            process.kill()
            process.wait()


# Registered before anybody who uses Spark registers an end of his own, so it comes after theirs.
atexit.register(_end_java)
