"""Files of public Java repositories, fetched by the resolver that comes with Spark.

Package names enter, files leave; where the repository is, the resolver knows by itself. It checks what it
downloads against the repository's checksums and goes on where an earlier call was cut off.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from headwater.errors import ServiceError
from headwater.services.java import cache_folder, java_home
from headwater.services.packages import Package
from headwater.services.trust import trust_store

HEAP = "-Xmx128m"
FILES = "files"
CLASSIFIER = "{http://ant.apache.org/ivy/maven}classifier"


def download(packages: Sequence[Package], folder: Path, *, done: Callable[[int], None]) -> Path:
    """Fetch the packages into a folder of `folder`, which also keeps the resolver's notes.

    `done` hears how many of twice as many steps are over: every package is first found, then fetched.
    """
    files = folder / FILES
    files.mkdir(parents=True, exist_ok=True)
    _settings(folder).write(folder / "settings.xml")
    _wanted(packages).write(folder / "wanted.xml")
    command = [*_java(), "-settings", str(folder / "settings.xml"), "-ivy", str(folder / "wanted.xml")]
    said: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=folder
    ) as process:
        assert process.stdout is not None
        try:
            steps = 0
            for line in process.stdout:
                said.append(line.strip())
                if re.match(r"\s+(found |\[SUCCESSFUL)", line):
                    steps += 1
                    done(steps)
        except BaseException:
            process.kill()
            raise
    missing = [package for package in packages if not (files / package.file).is_file()]
    if missing:
        raise _not_had(missing, said)
    return files


def _java() -> list[str]:
    home = java_home()
    options = [HEAP, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    # A Java from a wheel knows nothing of certificates that were added to this machine.
    if home.is_relative_to(cache_folder(os.environ)) and (store := trust_store(home)):
        options += [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStoreType=JKS"]
    return [str(home / "bin" / "java"), *options, "-cp", str(resolver()), "org.apache.ivy.Main"]


def resolver() -> Path:
    """The jar of the program that fetches packages, which came with Spark."""
    # Found and not imported: Spark itself is not needed here.
    spark = importlib.util.find_spec("pyspark")
    if spark is not None and spark.submodule_search_locations:
        jars = sorted((Path(spark.submodule_search_locations[0]) / "jars").glob("ivy-*.jar"))
        if jars:
            return jars[-1]
    raise ServiceError(
        "packages cannot be fetched",
        detail="The resolver that comes with package pyspark was not found.",
        hint="Install pyspark from its wheel.",
    )


def _settings(folder: Path) -> ElementTree.ElementTree[ElementTree.Element]:
    root = ElementTree.Element("ivysettings")
    ElementTree.SubElement(root, "settings", defaultResolver="public")
    pattern = f"{FILES}/[artifact]-[revision](-[classifier]).[ext]"
    ElementTree.SubElement(root, "caches", defaultCacheDir=str(folder), artifactPattern=pattern)
    resolvers = ElementTree.SubElement(root, "resolvers")
    # Every package is named exactly, so what each one would like to bring along is not even asked for.
    ElementTree.SubElement(resolvers, "ibiblio", name="public", m2compatible="true", usepoms="false")
    return ElementTree.ElementTree(root)


def _wanted(packages: Sequence[Package]) -> ElementTree.ElementTree[ElementTree.Element]:
    root = ElementTree.Element("ivy-module", version="2.0")
    ElementTree.SubElement(root, "info", organisation="headwater", module="wanted")
    ElementTree.SubElement(ElementTree.SubElement(root, "configurations"), "conf", name="default")
    dependencies = ElementTree.SubElement(root, "dependencies")
    for package in packages:
        named = {"org": package.group, "name": package.name, "rev": package.version}
        dependency = ElementTree.SubElement(
            dependencies, "dependency", named, transitive="false", conf="default->*"
        )
        file = {"name": package.name, "type": package.kind, "ext": package.kind}
        if package.classifier:
            file[CLASSIFIER] = package.classifier
        ElementTree.SubElement(dependency, "artifact", file)
    return ElementTree.ElementTree(root)


def _not_had(missing: Sequence[Package], said: Sequence[str]) -> ServiceError:
    """The packages that could not be had, and what the resolver says of the first one's cause."""
    causes = [found[1] for line in said if (found := re.search(r"access error at url \S+ \((.+)\)?$", line))]
    causes += [line for line in said if "download failed" in line.lower() or "checksum" in line.lower()]
    names = ", ".join(map(str, missing[:3])) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
    offline = "Is this machine connected, and may it reach the public Java repository?"
    return ServiceError(
        f"package {missing[0]} cannot be had",
        detail=f"Missing: {names}. " + (f"The resolver says: {causes[0][:300]}." if causes else "Not found."),
        hint=offline if causes else "It may have been withdrawn; see headwater's lock files for its version.",
    )
