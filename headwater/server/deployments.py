"""Deployments: a version is told to run, to stop, to go on."""

from __future__ import annotations

from headwater.errors import HeadwaterError
from headwater.server.answers import comparison_answer
from headwater.server.deployed import Deployed
from headwater.server.records import INITIALIZING, RUNNING, Application, Deployment, Version
from headwater.server.refusals import Conflict, Missing, missing
from headwater.server.schedule import check_schedule
from headwater.server.server import Server

END_SECONDS = 120.0
"""How long a deployment that is stopped may take for its step at hand."""


def deploy(
    server: Server, application: Application, wanted: Deployment, *, who: str, confirmed: bool
) -> Deployment:
    """Let a version run, in the place of the one that runs now; what it computes anew must be confirmed."""
    check_schedule(wanted)
    saved = None if confirmed else server.made_from(application)
    if not confirmed:
        _ask(server, application, wanted)
    with server.changing(application):
        paused = _paused(server, application)
        try:
            # Another version may have gone live since, or have come further; now nothing moves any more.
            if not confirmed and server.made_from(application) != saved:
                _ask(server, application, wanted)
            deployment = server.store.add(wanted)
        except HeadwaterError:
            for former in paused[-1:]:
                server.run(find_deployment(server, application, former.id))
            raise
        # Only now nobody wants the former one any more: a server that dies in between starts one of the two.
        for former in paused:
            ended = find_deployment(server, application, former.id)
            server.store.change(ended, is_wanted=False, next_run_at=None)
        server.run(deployment)
    server.did(who, "version deployed", application, detail=_told(server, deployment))
    return deployment


def stop(server: Server, application: Application, deployment: Deployment, *, who: str) -> Deployment:
    """End what runs; its State stays, and frees its cores and memory."""
    with server.changing(application):
        _end(server, application, deployment)
    server.did(who, "deployment stopped", application, detail=_told(server, deployment))
    return find_deployment(server, application, deployment.id)


def resume(server: Server, application: Application, deployment: Deployment, *, who: str) -> Deployment:
    """Let a deployment that was stopped, or has failed, go on where it ended."""
    with server.changing(application):
        deployment = find_deployment(server, application, deployment.id)  # as it is now
        if deployment.is_wanted and deployment.status in (INITIALIZING, RUNNING):
            raise Conflict(
                f"the deployment of '{application.name}' is {deployment.status} already",
                hint="Stop it first.",
            )
        latest = server.store.all(Deployment, application_id=application.id)[-1]
        if latest.id != deployment.id:
            raise Conflict(
                "another version was deployed since",
                hint="Resume the latest deployment, or deploy the version of this one again.",
            )
        _end(server, application, deployment)  # it may wait for its next try, or its next time
        ended = find_deployment(server, application, deployment.id)
        server.run(server.store.change(ended, is_wanted=True, status=INITIALIZING, next_run_at=None))
    server.did(who, "deployment resumed", application, detail=_told(server, deployment))
    return find_deployment(server, application, deployment.id)


def former_version(server: Server, application: Application) -> Version:
    """The version that was deployed before the one that was deployed last."""
    known = server.store.all(Deployment, application_id=application.id)
    others = [one.version_id for one in known if one.version_id != known[-1].version_id]
    if not others:
        raise Conflict(
            f"there is no version of '{application.name}' to go back to",
            detail="No other version was deployed before the last one.",
            hint="Deploy a version by its number.",
        )
    return server.store.all(Version, id=others[-1])[0]


def find_deployment(server: Server, application: Application, id: str) -> Deployment:
    """A deployment by its id; `latest` is the last one."""
    known = server.store.all(Deployment, application_id=application.id)
    if not known:
        raise Missing(
            f"'{application.name}' was never deployed",
            hint=f"Give it a version, then: headwater app deploy {application.name}.",
        )
    found = known[-1:] if id == "latest" else [one for one in known if one.id == id]
    if not found:
        raise missing(f"deployment of '{application.name}'", id, [one.id for one in known[-3:]])
    return found[0]


def _ask(server: Server, application: Application, wanted: Deployment) -> None:
    """Raise if what is saved of the application would be computed anew or let go."""
    if not server.has_state(application):
        return
    version = server.store.all(Version, id=wanted.version_id)[0]
    comparison = server.compare(application, version)
    if comparison.is_harmless:
        return
    parts = (("computed anew", comparison.recomputed), ("let go", comparison.gone), ("kept", comparison.kept))
    raise Conflict(
        f"version {version.version} of '{application.name}' does not keep everything",
        detail="; ".join(f"{said}: {', '.join(names)}" for said, names in parts if names),
        hint='If that is meant, deploy it with "confirmed": true, or --yes.',
        more={"comparison": comparison_answer(comparison)},
    )


def _paused(server: Server, application: Application) -> list[Deployment]:
    """What was to run of an application; nothing of it runs now, and all of it would if the server began again."""
    wanted = server.store.all(Deployment, application_id=application.id, is_wanted=True)
    for former in wanted:
        deployed = _running(server, application, former)
        if deployed is not None:
            deployed.stop()
            _join(application, deployed)
    return wanted


def _end(server: Server, application: Application, deployment: Deployment) -> None:
    """Stop a deployment for good and wait for its end."""
    deployed = _running(server, application, deployment)
    if deployed is None:
        server.store.change(find_deployment(server, application, deployment.id), is_wanted=False)
        return
    deployed.cancel()
    _join(application, deployed)
    # What a full disk kept it from writing down itself is the answer to who asked.
    server.store.change(deployed.deployment, is_wanted=False)


def _running(server: Server, application: Application, deployment: Deployment) -> Deployed | None:
    """What runs of a deployment, or waits to run; None if nothing does."""
    deployed = server.deployed(application)
    if deployed is None or deployed.deployment.id != deployment.id or deployed.is_over:
        return None
    return deployed


def _join(application: Application, deployed: Deployed) -> None:
    if not deployed.join(END_SECONDS):
        raise Conflict(
            f"the deployment of '{application.name}' has not ended within {END_SECONDS:g} s",
            hint="Its step takes long, or its database is away. It ends when that is over; ask again.",
        )


def _told(server: Server, deployment: Deployment) -> str:
    version = server.store.all(Version, id=deployment.version_id)[0]
    return f"version {version.version}, deployment {deployment.id}"
