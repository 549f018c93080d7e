"""The `headwater` program: parse, call, and turn what happens into an exit code.

0 is success, 1 an error, 2 a wrong command line, 130 Ctrl-C, 143 SIGTERM.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from headwater.cli.complain import error_text
from headwater.cli.parser import build_parser
from headwater.cli.stop import Stopped
from headwater.errors import HeadwaterError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        code = dispatch(build_parser().parse_args(argv))
        sys.stdout.flush()
        return code
    except UsageError as wrong:
        print(error_text(wrong), file=sys.stderr)
        return 2
    except HeadwaterError as failed:
        print(error_text(failed), file=sys.stderr)
        return 1
    except Stopped as stopped:
        return 128 + stopped.signal
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; what is still buffered must not raise at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def dispatch(given: argparse.Namespace) -> int:
    """Call the command that was typed."""
    # Imported when called: these modules bring Spark and Postgres, and --help needs neither.
    match given.command:
        case "run" | "sql":
            from headwater.cli.run import run_command

            return run_command(given)
        case "explain" | "verify" | "resnapshot" | "drop":
            from headwater.cli.inspect import inspect_command

            return inspect_command(given)
        case "demo":
            return dispatch_demo(given)
        case "connect":
            from headwater.cli.connect import connect_command

            return connect_command(given)
        case "topics":
            from headwater.cli.topics import topics_command

            return topics_command(given)
        case "tail":
            from headwater.cli.tail import tail_command

            return tail_command(given)
        case "services":
            from headwater.cli.services import services_command

            return services_command(given)
        case "serve" | "app" | "integration":
            return dispatch_server(given)
        case other:
            raise UsageError(f"there is no command '{other}'", hint="See headwater --help.")


def dispatch_demo(given: argparse.Namespace) -> int:
    """Call the demo that was typed."""
    match given.demo:
        case "claims":
            from headwater.cli.demo_watch import watch_command

            return watch_command(given)
        case "claims-kafka":
            from headwater.cli.demo_kafka import claims_kafka_command

            return claims_kafka_command(given)
        case "outbox":
            from headwater.cli.demo_outbox import outbox_command

            return outbox_command(given)
        case "star":
            from headwater.cli.demo_star import star_command

            return star_command(given)
        case "audit":
            from headwater.cli.demo_audit import audit_command

            return audit_command(given)
        case _:
            from headwater.cli.demo import demo_command

            return demo_command(given)


def dispatch_server(given: argparse.Namespace) -> int:
    """Start a server, or tell one what to do."""
    if given.command == "serve":
        from headwater.cli.serve import serve_command

        return serve_command(given)
    from headwater.cli.app import app_command, integration_command

    return app_command(given) if given.command == "app" else integration_command(given)
