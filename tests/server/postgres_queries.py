"""Queries that Postgres and Spark could compute differently, over `things`."""

from __future__ import annotations

EXPRESSIONS = [
    "id::numeric, price::numeric * 3, weight::numeric / 4 = weight / 4, (id + 1)::numeric / 4 > 1.2, '7.25'::numeric",
    "weight::int, (weight + 1)::bigint, price::int, (price / 2)::int, 2.5::int, id::text",
    "at AT TIME ZONE 'Europe/Berlin', day + 1, day - DATE '2026-01-01'",
    "upper(left(name, 1)), length(name), name || 'x', substring(name, 1, 2), left(name, 1)",
    "coalesce(name, 'none'), nullif(id, 2), greatest(id, 2), concat(name, '!', id)",
    "round(price, 1), round(price), abs(price), ceil(weight), trunc(price)",
    "id, price > 0 AND name IS NOT NULL, name IS DISTINCT FROM 'ann', NOT (id = 1)",
    "round(weight), stddev(weight) OVER () > 0, sign(price) = 1, exp(id - id), round(ln(id)::numeric, 9)",
    "lpad(name, 6, '*'), rpad(name, 2), trim(name || '  '), repeat(name, 2), reverse(name)",
    "extract(dow FROM at), extract(doy FROM at), extract(week FROM day), extract(quarter FROM day)",
    "extract(hour FROM at), extract(minute FROM at), extract(month FROM at), extract(day FROM day)",
    "date_part('year', at), date_part('second', at), date_part('epoch', at)",
    "name::varchar(2), price::numeric(6,1), weight::numeric(20,1), id::float8",
    "timestamptz '2026-01-01 12:00:00+02' < at, at::date, at::timestamp, day::timestamptz",
    "substring(name FROM 2), right(name, 2), strpos(name, 'n'), md5(name), starts_with(name, 'a')",
    "mod(id, 3), id % 3, -7 % id, least(id, 2), big & 3, big | 8",
    "(ARRAY[id, 9])[1], array_length(ARRAY[id, 9], 1), cardinality(ARRAY[id])",
    "to_timestamp(id), make_date(2026, 1, id), now() IS NULL, current_date > DATE '2026-01-01'",
    "concat_ws('-', name, id::text), btrim(name, 'an'), ltrim('  x') || name, rtrim(name)",
    "id::boolean, (id > 1)::int, (id > 1)::text, chr(64 + id), ascii(name), char_length(name)",
    "position('n' IN name), replace(name, 'n', 'm'), split_part(name, 'n', 1)",
]
"""Of each row."""

QUERIES = [
    "SELECT * FROM things AS t ORDER BY id",
    "SELECT id / 2, big / 2, -big / 2, 7 / 2 * 2, big % 4 FROM things AS t ORDER BY id",
    "SELECT sum(id) / count(*), sum(big) > 0, count(price), avg(id) = 2.5 FROM things AS t",
    "SELECT id FROM things AS t ORDER BY name, id",
    "SELECT id FROM things AS t ORDER BY name DESC, id",
    "SELECT id, row_number() OVER (ORDER BY price DESC) FROM things AS t ORDER BY 1",
    "SELECT extract(epoch FROM at) * 2, extract(year FROM day) / 4 FROM things AS t ORDER BY id",
    "SELECT floor(extract(epoch FROM at) / 300) * 300 AS time, count(*) FROM things AS t GROUP BY 1 ORDER BY 1",
    "SELECT date_trunc('month', at), date_trunc('hour', at) FROM things AS t ORDER BY id",
    "SELECT at + interval '1 day', at - interval '90 minutes' FROM things AS t ORDER BY id",
    "SELECT id FROM things AS t WHERE at BETWEEN '2026-01-01T00:00:00Z' AND '2026-02-01T00:00:00Z'",
    "SELECT id FROM things AS t WHERE name ILIKE 'ANN' OR name LIKE '%\\_ü%' OR name ~ '^A' ORDER BY id",
    "SELECT count(*) FILTER (WHERE id > 1), count(DISTINCT lower(name)), string_agg(name, ',' ORDER BY"
    " id) FROM things AS t",
    "SELECT id FROM things AS t WHERE id = ANY(ARRAY[1, 4]) OR id IN (SELECT max(id) - 1 FROM things AS"
    " t) ORDER BY id",
    "WITH t AS (SELECT id, price FROM things AS t) SELECT a.id, b.id FROM t a LEFT JOIN t b ON b.id ="
    " a.id + 1 ORDER BY 1",
    "SELECT id FROM things AS t WHERE id < 3 UNION ALL SELECT 9 ORDER BY 1 DESC LIMIT 2 OFFSET 1",
    "SELECT CASE WHEN price > 0 THEN 'more' ELSE 'less' END AS what, count(*) FROM things AS t GROUP BY"
    " 1 ORDER BY 1",
    "SELECT max(at), min(day), max(name), bool_or(id = 1) FROM things AS t",
    "SELECT to_char(at, 'YYYY-MM-DD HH24:MI:SS') FROM things AS t ORDER BY id",
    "SELECT id, lag(id) OVER w, rank() OVER w, sum(id) OVER w FROM things AS t WINDOW w AS (ORDER BY"
    " lower(name)) ORDER BY id",
    "SELECT id FROM things AS t WHERE NOT id = ANY(ARRAY[1, 2]) AND NOT EXISTS (SELECT 1 FROM things AS"
    " t WHERE id > 9) ORDER BY 1",
    "SELECT every(id > 0), bool_and(price > 0), variance(id)::numeric(10,4), count(*) FROM things AS t"
    " HAVING count(*) > 1",
    "SELECT name, count(*) FROM things AS t GROUP BY ROLLUP (name) ORDER BY 2 DESC, 1 NULLS FIRST",
    "SELECT avg(price)::numeric(10,3), avg(weight)::numeric(20,1), sum(price) / count(*) > 0 FROM things AS t",
    "SELECT lead(id) OVER w, dense_rank() OVER w, first_value(id) OVER w, last_value(id) OVER w,"
    " ntile(2) OVER w FROM things AS t WINDOW w AS (ORDER BY id) ORDER BY id",
    "SELECT round(stddev_pop(id)::numeric, 6), round(var_pop(id)::numeric, 6), round(corr(id,"
    " id)::numeric, 6) FROM things AS t",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY weight) FROM things AS t",
    "SELECT id FROM things AS t WHERE (id, 1) IN ((2, 1)) OR id BETWEEN 3 AND 3 ORDER BY id",
    "SELECT power(id, 2), 2 ^ 3, sqrt(id * id) FROM things AS t ORDER BY id",
    *(f"SELECT {each} FROM things AS t ORDER BY id" for each in EXPRESSIONS),
]
