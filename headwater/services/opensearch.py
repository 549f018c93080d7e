"""A real OpenSearch of one node on 127.0.0.1; it speaks as Elasticsearch 7 does.

with OpenSearchServer(Path("data")) as server:
    requests.get(server.url)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headwater.errors import ServiceError
from headwater.services.artifacts import fetch
from headwater.services.http import answers_well
from headwater.services.java import is_from_wheel, java_home
from headwater.services.java_program import java_command, write_log_settings
from headwater.services.ports import HOST, free_port_between
from headwater.services.process import Launch, Lifetime, Server

HEAP = "512m"

LOWEST_PORT, HIGHEST_PORT = 1024, 9299
"""The program that starts the node counts up from a port, and no further than this."""

FREE_PORTS = (7200, 7999)

SETTINGS: Mapping[str, str] = {
    "discovery.type": "single-node",
    "network.host": HOST,
    "transport.port": "0",
    "action.auto_create_index": "true",
    # A disk that is nearly full is no reason for a small index to become read-only.
    "cluster.routing.allocation.disk.threshold_enabled": "false",
}
"""What differs from an OpenSearch as it comes."""


MODULES = (
    "org.opensearch.search.aggregations.matrix.MatrixAggregationPlugin",
    "org.opensearch.geo.GeoModulePlugin",
    "org.opensearch.ingest.common.IngestCommonPlugin",
    "org.opensearch.ingest.useragent.IngestUserAgentPlugin",
    "org.opensearch.dashboards.OpenSearchDashboardsPlugin",
    "org.opensearch.script.expression.ExpressionPlugin",
    "org.opensearch.script.mustache.MustachePlugin",
    "org.opensearch.painless.PainlessPlugin",
    "org.opensearch.index.mapper.MapperExtrasPlugin",
    "org.opensearch.join.ParentJoinPlugin",
    "org.opensearch.percolator.PercolatorPlugin",
    "org.opensearch.index.rankeval.RankEvalPlugin",
    "org.opensearch.index.reindex.ReindexPlugin",
    "org.opensearch.plugin.repository.url.URLRepositoryPlugin",
    "org.opensearch.transport.Netty4Plugin",
)
"""All modules but the one of further analyzers."""


class OpenSearchServer(Server):
    """One node; the folder keeps the indices from one start to the next."""

    name = "opensearch"

    def __init__(
        self,
        folder: Path,
        port: int | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        lifetime: Lifetime | Path = Lifetime.PARENT,
    ) -> None:
        super().__init__(folder, free_port_between(*FREE_PORTS) if port is None else port, lifetime=lifetime)
        self._settings = dict(settings or {})
        if not LOWEST_PORT <= self.port <= HIGHEST_PORT:
            raise ServiceError(
                f"opensearch cannot listen on port {self.port}",
                detail=f"Its port must be between {LOWEST_PORT} and {HIGHEST_PORT}.",
                hint="Choose another port, such as 9200.",
            )

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"http://{self.address}"

    def launch(self) -> Launch:
        """Write the node's files and say how it is started."""
        jars = fetch("opensearch")
        config = self.folder / "config"
        config.mkdir(exist_ok=True)
        write_log_settings(config)
        given = {**SETTINGS, **self._settings}
        (config / "opensearch.yml").write_text("".join(f"{name}: {value}\n" for name, value in given.items()))
        main = "org.codelibs.opensearch.runner.OpenSearchRunner"
        command = java_command(jars, main, heap=HEAP)
        command += ["-basePath", str(self.folder), "-confPath", str(config), "-numOfNode", "1"]
        # The first node takes the port after this one.
        command += ["-baseHttpPort", str(self.port - 1), "-useLogger"]
        if is_from_wheel(java_home()):
            # It cannot split Thai into words, which the one module left out tries for every new index.
            command += ["-moduleTypes", ",".join(MODULES)]
        return Launch(command, {}, {})

    def answers(self) -> bool:
        """True if the node has found its indices and takes requests."""
        return answers_well(self.port, "/_cluster/health?wait_for_status=yellow&timeout=1s")
