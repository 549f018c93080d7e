"""Events of Debezium: a draft that reads the default forms only."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from headwater.formats.outputs import Reading
from headwater.schema import Column, sql_type


def _typed(text: str, column: Column) -> str:
    kind = column.type
    if kind == "string":
        return text
    if kind == "binary":
        return f"unbase64({text})"
    if kind == "date":
        return f"CASE WHEN {text} RLIKE '^-?[0-9]+$' THEN date_from_unix_date(CAST({text} AS INT)) ELSE TRY_CAST({text} AS DATE) END"
    if kind == "timestamp_ntz":
        return f"CASE WHEN {text} RLIKE '^-?[0-9]+$' THEN CAST(timestamp_micros(CAST({text} AS BIGINT)) AS TIMESTAMP_NTZ) ELSE TRY_CAST({text} AS TIMESTAMP_NTZ) END"
    if kind.startswith(("array", "struct", "map")):
        return f"from_json({text}, '{kind}')"
    return f"TRY_CAST({text} AS {sql_type(kind)})"


def changelog(reading: Reading) -> exp.Query:
    own = [c for c in reading.schema if c.name not in reading.metadata]
    fields = ", ".join(f"`{c.name}` STRING" for c in own)
    row = f"STRUCT<{fields.replace('` STRING', '`: STRING')}>"
    body = f"before {row}, after {row}, op STRING, source STRUCT<connector: STRING, sequence: STRING, ts_ms: BIGINT>"
    schema = f"{body}, payload STRUCT<{body.replace('before ', 'before: ').replace('after ', 'after: ').replace('op STRING', 'op: STRING').replace('source STRUCT', 'source: STRUCT')}>, __hw_wrong STRING"
    key = reading.schema.key
    old, new = [], []
    for c in own:
        old.append(f"{_typed(f'e.before.`{c.name}`', c)} AS `{c.name}`")
        new.append(f"{_typed(f'e.after.`{c.name}`', c)} AS `{c.name}`")
    olds, news = f"STRUCT({', '.join(old)})", f"STRUCT({', '.join(new)})"
    if key:
        moved = " OR ".join(f"e.before.`{k}` <> e.after.`{k}`" for k in key)
        events = f"""CASE
          WHEN wrong IS NOT NULL THEN array(struct(0 AS half, CAST(NULL AS STRING) AS kind, {news} AS r))
          WHEN e.op IN ('c', 'r') OR (e.op = 'u' AND NOT coalesce({moved}, false)) THEN array(struct(1 AS half, 'upsert' AS kind, {news} AS r))
          WHEN e.op = 'u' THEN array(struct(0 AS half, 'delete_key' AS kind, {olds} AS r), struct(1 AS half, 'upsert' AS kind, {news} AS r))
          WHEN e.op = 'd' THEN array(struct(0 AS half, 'delete_key' AS kind, {olds} AS r))
          WHEN e.op = 't' THEN array(struct(0 AS half, 'truncate' AS kind, {news} AS r)) END"""
    else:
        events = f"""CASE
          WHEN wrong IS NOT NULL THEN array(struct(0 AS half, CAST(NULL AS STRING) AS kind, {news} AS r))
          WHEN e.op IN ('c', 'r') THEN array(struct(1 AS half, 'insert' AS kind, {news} AS r))
          WHEN e.op = 'u' THEN array(struct(0 AS half, 'delete' AS kind, {olds} AS r), struct(1 AS half, 'insert' AS kind, {news} AS r))
          WHEN e.op = 'd' THEN array(struct(0 AS half, 'delete' AS kind, {olds} AS r))
          WHEN e.op = 't' THEN array(struct(0 AS half, 'truncate' AS kind, {news} AS r)) END"""
    columns = ", ".join(f"v.r.`{c.name}` AS `{c.name}`" for c in own)
    text = f"""
    SELECT {columns}, v.kind AS __hw_kind, CAST((offset * 4096 + partition % 4096) * 2 + v.half AS BIGINT) AS __hw_seq,
      CAST(NULL AS ARRAY<STRING>) AS __hw_unchanged, wrong AS __hw_error,
      CASE WHEN e.op <> 'r' THEN transform(from_json(e.source.sequence, 'array<string>'), x -> coalesce(CAST(x AS BIGINT), 0)) END AS __hw_source_at,
      e.source.ts_ms AS __hw_source_ms, topic AS __hw_topic, partition AS __hw_partition, offset AS __hw_offset,
      CASE WHEN wrong IS NOT NULL THEN key END AS __hw_key, CASE WHEN wrong IS NOT NULL THEN value END AS __hw_value
    FROM (SELECT topic, partition, offset, key, value, e, wrong, explode({events}) AS v FROM
      (SELECT *, CASE WHEN p.__hw_wrong IS NOT NULL THEN 'the value is not JSON' END AS wrong,
        CASE WHEN p.payload IS NOT NULL THEN p.payload ELSE struct(p.before, p.after, p.op, p.source) END AS e
       FROM (SELECT *, from_json(CAST(value AS STRING), '{schema}', map('columnNameOfCorruptRecord', '__hw_wrong')) AS p
             FROM messages WHERE value IS NOT NULL) AS m) AS m2) AS m3
    """
    found = sqlglot.parse_one(text, dialect="spark")
    assert isinstance(found, exp.Query)
    return found
