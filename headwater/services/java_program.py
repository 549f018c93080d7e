"""How a Java server is started here: a small heap, and made for a quick start rather than for a long race."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headwater.services.class_archive import archive_options
from headwater.services.java import java_home

QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")

LOG_SETTINGS = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %-5p %c{1.} %m%n
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
"""


def java_command(jars: Path, main: str, *, heap: str, options: Sequence[str] = ()) -> list[str]:
    """The command of a Java program whose jars are in one folder."""
    home = java_home()
    kept = archive_options(main.rpartition(".")[2], home, jars)
    return [str(home / "bin" / "java"), f"-Xmx{heap}", *QUICK, *kept, *options, "-cp", f"{jars}/*", main]


def write_log_settings(folder: Path) -> Path:
    """A file that makes a server write its log to where we read it."""
    path = folder / "log4j2.properties"
    path.write_text(LOG_SETTINGS)
    return path


def properties(settings: dict[str, str]) -> str:
    """The text of a properties file.

    >>> properties({"a": "b\\nc"})
    'a=b\\\\nc\\n'
    """
    escaped = {name: value.replace("\\", "\\\\").replace("\n", "\\n") for name, value in settings.items()}
    return "".join(f"{name}={value}\n" for name, value in escaped.items())
