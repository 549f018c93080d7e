"""A real Connect worker. Oracle: what its REST interface says."""

from __future__ import annotations

import pytest
import urllib3

from tests.stage.shared import SharedConnect

pytestmark = pytest.mark.services


def test_it_has_debeziums_connector_for_postgres(connect: SharedConnect) -> None:
    plugins = urllib3.request("GET", f"{connect.url}/connector-plugins").json()
    assert "io.debezium.connector.postgresql.PostgresConnector" in {plugin["class"] for plugin in plugins}
