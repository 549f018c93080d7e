"""The options of connector 'filesystem', and the place that its path names."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import Place
from headwater.options import Secret, option
from headwater.sinks.local_path import local_path

FORMATS = ("csv", "json", "parquet", "raw")
COMPRESSIONS = ("snappy", "gzip", "zstd", "lz4", "brotli", "uncompressed")

_READING = "accepted; these say how the table is read"


@dataclass(frozen=True, kw_only=True)
class FilesystemOptions:
    """The options of connector 'filesystem' as a sink."""

    path: str = option("path", "a file, or a folder if it ends with / or is one")
    format: str = option("format", "how rows are written", choices=FORMATS)
    mode: str | None = option(
        "sink.mode",
        "rows as they come, each change with its sign, or a file that is always the result",
        default=None,
        choices=("append", "changes", "snapshot"),
    )
    op_column: str = option("sink.op-column", "the column of signs in mode changes", default="op")
    header: bool = option("csv.write-header", "the first line of a file names the columns", default=False)
    csv: dict[str, str] = option("csv.", "options of format csv", prefix=True)
    json: dict[str, str] = option("json.", "options of format json", prefix=True)
    raw: dict[str, str] = option("raw.", "options of format raw", prefix=True)
    compression: str = option("parquet.compression", "how Parquet files are compressed", default="snappy")
    parallelism: int = option(
        "sink.parallelism", "accepted and without effect: one process writes", default=1
    )
    rolling: dict[str, str] = option(
        "sink.rolling-policy.", "accepted and without effect: a file is whole with its batch", prefix=True
    )
    commit: dict[str, str] = option(
        "sink.partition-commit.", "refused: there are no partitions to commit", prefix=True
    )
    source: dict[str, str] = option("source.", _READING, prefix=True)


def location(options: FilesystemOptions, place: Place | None = None) -> Path:
    """The absolute path, behind all links; relative ones begin in the working folder."""
    return Path(local_path("path", options.path, connector="filesystem", place=place))


def names_folder(options: FilesystemOptions, path: Path) -> bool:
    """True if rows go into a folder: the path says so, or it is one already."""
    plain = options.path.reveal() if isinstance(options.path, Secret) else options.path
    return plain.endswith(("/", os.sep)) or path.is_dir()


def group_of(options: FilesystemOptions) -> str:
    """One sink for each path: files know of no transaction over several of them."""
    where = str(location(options))
    if isinstance(options.path, Secret):
        return f"filesystem-{hashlib.sha256(where.encode()).hexdigest()[:12]}"
    return f"filesystem-{where}"
