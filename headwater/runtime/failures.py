"""What goes wrong while something is computed, told as an error of ours: values, files, the disk."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException, PythonException

from headwater.errors import HeadwaterError, SqlError, StateError

ANEW = "Remove it with headwater drop and start again with a new snapshot."

_CODE = re.compile(r"^\[[A-Z_.0-9]+\] ")
_SWITCH = re.compile(r' If necessary set "spark\.sql\.ansi\.enabled" to "false" to bypass this error\.')


@contextmanager
def told(relation: str, folder: Path) -> Iterator[None]:
    """While a relation is computed from the State in a folder: whatever breaks is one of our errors."""
    try:
        yield
    except PythonException as problem:
        raise _of_function(relation, str(problem)) from problem
    except PySparkException as problem:
        is_lost = (problem.getCondition() or "").startswith(("PATH_NOT_FOUND", "FAILED_READ_FILE"))
        raise (_of_state if is_lost else _of_value)(relation, said_by(problem)) from problem
    except Py4JJavaError as problem:
        raise _of_spark(relation, last_cause(str(problem))) from problem
    except BrokenPipeError:
        # Whoever read our output has gone; that is no failure.
        raise
    except (Py4JError, ConnectionError) as problem:
        raise HeadwaterError(
            "Spark has ended",
            detail=f'It ended while "{relation}" was computed.',
            hint="Was its process killed, or the memory full? Starting again repeats the batch.",
        ) from problem
    except pa.ArrowException as problem:
        raise _of_state(relation, str(problem)) from problem
    except (OSError, sqlite3.Error) as problem:
        raise StateError(
            f'the saved state in "{folder}" cannot be read or written',
            detail=f"{problem}",
            hint="Is the disk full, and may the folder be written to?",
        ) from problem


def said_by(problem: PySparkException) -> str:
    """What Spark says, without its codes."""
    said = str(problem).split(" SQLSTATE")[0].splitlines()[0]
    return _SWITCH.sub("", _CODE.sub("", said))


def _of_state(relation: str, said: str) -> HeadwaterError:
    return StateError("the saved state cannot be read", detail=f'"{relation}": {said}', hint=ANEW)


def _of_value(relation: str, said: str) -> HeadwaterError:
    """Spark refuses a value: a division by zero, a text that is no number."""
    return SqlError(
        f'"{relation}" cannot be computed',
        detail=said,
        hint="Let the query take such values (try_divide, try_cast, NULLIF, a WHERE), then start again.",
    )


def _of_function(relation: str, trace: str) -> HeadwaterError:
    """A function of the user's raised; the last line of its trace says what."""
    raised = [line for line in trace.splitlines() if re.match(r"[\w.]+: ", line)]
    return SqlError(
        f'a Python function raised while "{relation}" was computed',
        detail=raised[-1] if raised else trace.strip().splitlines()[-1],
        hint="Let the function take such values, or the query leave them out, then start again.",
    )


def _of_spark(relation: str, cause: str) -> HeadwaterError:
    if ".parquet" in cause or "FileNotFound" in cause:
        return _of_state(relation, cause)
    return HeadwaterError(
        f'Spark could not compute "{relation}"',
        detail=cause,
        hint="See spark.log in the state folder; starting again repeats the batch.",
    )


def spark_has_ended() -> HeadwaterError:
    """Nothing can be computed any more in this process."""
    return HeadwaterError(
        "Spark has ended", hint="Was its process killed, or the memory full? Start the server again."
    )


def is_out_of_memory(problem: Py4JJavaError) -> bool:
    """True if Java found no memory for it; what others compute goes on."""
    return "java.lang.OutOfMemoryError" in str(problem)


def last_cause(trace: str) -> str:
    """The innermost reason of a Java trace, without the name of its class."""
    lines = trace.splitlines()
    causes = [line for line in lines if line.startswith("Caused by: ")] or lines[1:2] or lines[:1]
    return re.sub(r"^(Caused by)?: (?:[\w.$]+: )?", "", causes[-1])
