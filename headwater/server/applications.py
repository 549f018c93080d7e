"""Applications and their versions: made, found, listed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headwater.errors import UsageError
from headwater.runtime.hosting import check_text
from headwater.server.records import Application, Version
from headwater.server.refusals import Conflict, missing
from headwater.server.server import Server

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def create_application(server: Server, name: str, who: str) -> Application:
    """A new application, without a version."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' cannot be the name of an application",
            detail="It begins with a letter, a digit or _, and has letters, digits, _, - and . in it, 100 at most.",
            hint="Its State is kept in a folder of this name.",
        )
    with server.changing():
        known = [one.name for one in server.store.all(Application)]
        taken = [one for one in known if one.lower() == name.lower()]
        if taken:
            raise Conflict(
                f"there is an application '{taken[0]}' already",
                hint="Give that a new version, or take another name.",
            )
        application = server.store.add(Application(name))
    server.did(who, "application created", application)
    return application


def find_application(server: Server, named: str) -> Application:
    """The application of an id or a name."""
    found = server.store.find(Application, id=named) or server.store.find(Application, name=named)
    if found is None:
        raise missing("application", named, [one.name for one in server.store.all(Application)])
    return found


def create_version(server: Server, application: Application, body: Mapping[str, Any], who: str) -> Version:
    """A new version; its SQL is read and its options are checked, and nothing is started."""
    with server.changing(application):
        number = len(server.store.all(Version, application_id=application.id)) + 1
        version = Version(application.id, number, body, who)
        check_text(server.script(version), f"{application.name}-{number}.sql")
        server.store.add(version)
    server.did(who, "version created", application, detail=f"version {number}")
    return version


def find_version(server: Server, application: Application, named: str) -> Version:
    """The version of an id or a number."""
    known = server.store.all(Version, application_id=application.id)
    found = [one for one in known if named in (one.id, str(one.version))]
    if not found:
        raise missing(f"version of '{application.name}'", named, [str(one.version) for one in known])
    return found[0]
