-- Queries that somebody wrote by hand, because the grammar of random queries does not make them; each was wrong once, or
-- was refused. One a line; they read the tables of tables.py, and earlier ones as view1, view2 and so on.

-- Conditions of a join behind which others add rows.
SELECT u.id FROM users u WHERE EXISTS (SELECT 1 FROM tiny a JOIN tiny b ON a.k = b.k + 100 RIGHT JOIN items c ON c.k = a.k WHERE c.k = u.k)
SELECT u.id FROM users u WHERE NOT EXISTS (SELECT 1 FROM parts a JOIN tiny b ON a.s = b.s FULL JOIN items c ON c.s = a.s WHERE c.k = u.k)
SELECT u.id FROM users u WHERE u.id > (SELECT COUNT(*) FROM parts a JOIN tiny b ON a.k = b.k RIGHT JOIN items c ON c.k = a.k WHERE c.k = u.k)
SELECT u.id, l.cs FROM users u, LATERAL (SELECT c.s AS cs FROM tiny a JOIN parts b ON a.k = b.k + 100 RIGHT JOIN items c ON c.k = a.k WHERE c.k = u.k) l

-- Fields of rows keep their names.
SELECT id, TO_JSON(STRUCT(k AS Kk, s)) AS j, TO_JSON(NAMED_STRUCT('Aa', K)) AS j2 FROM items
SELECT id, TO_JSON(STRUCT(K, S AS `Odd Name`)) AS j FROM items
SELECT id, TO_JSON(STRUCT(*)) AS j FROM items
SELECT id, st.aA FROM (SELECT id, NAMED_STRUCT('Aa', k) AS st FROM items)

-- Groups by constants.
SELECT 'x' AS c, COUNT(*) AS n FROM items WHERE k > 100 GROUP BY ALL
SELECT 'x' AS c, 3 AS d FROM items GROUP BY ALL
SELECT 3 AS d, COUNT(*) AS n FROM items GROUP BY ALL
SELECT k % 2 AS g, ANY_VALUE(5) AS v FROM (SELECT i.k FROM items i LEFT JOIN users u ON u.k = i.k) GROUP BY k % 2
SELECT u.id, (SELECT MAX(i.n) FROM items i WHERE i.s = u.s AND u.k = 3) AS v FROM users u
SELECT u.id FROM users u WHERE u.s IN (SELECT i.s FROM items i WHERE u.k = 0 GROUP BY i.s)
SELECT i.id, q.m FROM items i LEFT JOIN (SELECT c, s, MAX(k) AS m FROM (SELECT 4 AS c, s, k FROM tiny) GROUP BY c, s) q ON i.s = q.s AND i.k < q.c
SELECT i.id, q.m FROM items i LEFT JOIN (SELECT c, MAX(k) AS m FROM (SELECT 4 AS c, k FROM tiny WHERE k > 100) GROUP BY c) q ON i.k < q.c

-- IN that is compared with a constant.
SELECT id FROM items WHERE (k IN (SELECT k FROM notes)) = FALSE
SELECT id FROM items WHERE FALSE = (k IN (SELECT m FROM parts))
SELECT id FROM items WHERE (k IN (SELECT k FROM notes)) <> TRUE
SELECT id FROM items WHERE NOT ((k IN (SELECT k FROM notes)) = TRUE)
SELECT id, (k IN (SELECT k FROM notes)) = FALSE AS b, (k IN (SELECT m FROM parts)) <> TRUE AS c FROM items

-- Orders by expressions over what is selected.
SELECT id FROM items ORDER BY -id LIMIT 2
SELECT id, k FROM items ORDER BY COALESCE(k, 0), id LIMIT 3
SELECT k, SUM(n) AS n FROM items GROUP BY k ORDER BY n + 1 DESC NULLS LAST, k LIMIT 3
SELECT DISTINCT s, k FROM items ORDER BY s || '', k + 0 LIMIT 3
SELECT -k AS k, id FROM items ORDER BY k + 0, id LIMIT 4
SELECT k FROM items UNION SELECT k FROM parts ORDER BY k + 0 DESC NULLS LAST LIMIT 3

-- HAVING that is tied to a group.
SELECT i.k FROM items i GROUP BY i.k HAVING EXISTS (SELECT 1 FROM tiny t WHERE t.k = i.k)
SELECT k, COUNT(*) AS c FROM items GROUP BY k HAVING COUNT(*) >= (SELECT COUNT(*) FROM parts WHERE parts.k = items.k)
SELECT k, COUNT(*) AS c FROM items i GROUP BY k HAVING k IN (SELECT p.k FROM parts p WHERE p.k = i.k)
SELECT k, MAX(n) AS c, RANK() OVER (ORDER BY k) AS r FROM items GROUP BY k HAVING NOT EXISTS (SELECT 1 FROM parts p WHERE p.k = items.k)

-- A derived table that is called like a table outside; windows that have names; generators of several columns.
SELECT u.id FROM users u WHERE EXISTS (SELECT 1 FROM (SELECT i.k, i.s FROM items i WHERE i.k = u.k) u WHERE u.s > '')
SELECT id, ROW_NUMBER() OVER w AS rn FROM items WINDOW w AS (PARTITION BY k ORDER BY id)
SELECT id, LAG(k) OVER v AS t, SUM(n) OVER w AS x FROM items WINDOW w AS (PARTITION BY s ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), v AS (ORDER BY id)
SELECT id, POSEXPLODE(ARRAY(k)) AS (p, v) FROM items
SELECT STACK(2, k, 'a', id, 'b') AS (v, l) FROM items
SELECT id, ARRAY_SORT(ARRAY(k, 2, 1), (l, r) -> CASE WHEN l > r THEN -1 WHEN l < r THEN 1 ELSE 0 END) AS a FROM items WHERE k IS NOT NULL

-- Percentiles that the library knows by another name, and frequencies that it does not know.
SELECT k, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) AS a FROM items GROUP BY k
SELECT k, PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY x DESC) AS a FROM items GROUP BY k
SELECT k, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n) FILTER (WHERE n > 0) AS a FROM items GROUP BY k
SELECT id, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER (PARTITION BY k) AS a FROM items
SELECT k, PERCENTILE(n, 0.5, id) AS a, PERCENTILE(n, 0.5) AS b FROM items GROUP BY k

-- Sets of groups: the order of their keys, places in the select list, ties.
SELECT k, b, GROUPING_ID() AS g, COUNT(*) AS c FROM items GROUP BY ROLLUP(k), b
SELECT b, k, s, GROUPING_ID() AS g, COUNT(*) AS c FROM items GROUP BY CUBE(b), ROLLUP(k), s
SELECT k, b, GROUPING_ID() AS g, COUNT(*) AS c FROM items GROUP BY GROUPING SETS ((k), ()), b
SELECT k, b, COUNT(*) AS c, GROUPING_ID() AS g FROM items GROUP BY k, b GROUPING SETS ((b), (k), ())
SELECT k, b, COUNT(*) AS c, GROUPING_ID() AS g FROM items GROUP BY k, b WITH ROLLUP
SELECT k, s, COUNT(*) AS c, GROUPING(s) AS g FROM items GROUP BY ROLLUP(1, 2)
SELECT k, COUNT(*) AS c FROM items GROUP BY ROLLUP(1) HAVING GROUPING_ID(k) < 3
SELECT k, ROW_NUMBER() OVER (ORDER BY COUNT(*), k, GROUPING(k)) AS r FROM items GROUP BY ROLLUP(k)
SELECT k, s, ROW_NUMBER() OVER (ORDER BY COUNT(*), k, s, GROUPING(k), GROUPING(s)) AS r FROM items GROUP BY GROUPING SETS ((k), (s), (k, s))

-- PIVOT of what is no number, and with FILTER; counts of nothing; maps, which have no order.
SELECT * FROM (SELECT k, s, b FROM items) PIVOT (COUNT(*) AS c, MAX(s) AS m FOR b IN (true AS y, false AS f))
SELECT * FROM (SELECT k, d, b FROM items) PIVOT (COUNT(*) AS c, MAX(d) AS m FOR b IN (true AS y, false AS f))
SELECT * FROM (SELECT k, n, b FROM items) PIVOT (COUNT(*) AS c, MAX(n) AS m FOR b IN (true AS y, false AS f))
SELECT k, ARRAY_SORT(y) AS y, ARRAY_SORT(f) AS f FROM (SELECT k, n, b FROM items) PIVOT (COLLECT_SET(n) FOR b IN (true AS y, false AS f))
SELECT * FROM (SELECT k, b, n FROM items) PIVOT (SUM(n) FILTER (WHERE n > 0) AS t FOR b IN (true AS y))
SELECT t.k, (SELECT REGR_COUNT(x, x) FROM notes n WHERE n.k = t.k) AS h FROM tiny t
SELECT t.k, (SELECT REGR_COUNT(x, x) FROM notes n WHERE n.k = t.k AND n.b) AS h FROM tiny t
SELECT id FROM (SELECT id, MAP('a', k) AS m FROM items ORDER BY id LIMIT 4)
SELECT id, SIZE(m) AS z FROM (SELECT id, m FROM (SELECT id, MAP('a', k) AS m FROM items) ORDER BY id LIMIT 4)

-- What tells rows apart needs no more than the query has anyway: two of these aggregates are more than Spark can plan.
SELECT q.t, q.d, ROW_NUMBER() OVER (PARTITION BY q.t ORDER BY q.d) AS r FROM (SELECT STRING_AGG(n.s, '+') WITHIN GROUP (ORDER BY n.s) AS t, COUNT(DISTINCT n.d) AS d, SUM(DISTINCT n.w) AS e FROM notes n) q
SELECT q.k, q.d, ROW_NUMBER() OVER (ORDER BY q.d, q.k) AS r FROM (SELECT n.k, STRING_AGG(n.s, '+') WITHIN GROUP (ORDER BY n.s) AS t, COUNT(DISTINCT n.d) AS d, SUM(DISTINCT n.w) AS e FROM notes n GROUP BY n.k) q

-- Windows by the name of another; numbers inside of keys; negative constants; texts compared with TRUE; QUALIFY is a story.
SELECT id, ROW_NUMBER() OVER v AS r FROM items WINDOW w AS (PARTITION BY k ORDER BY id), v AS w
SELECT k, COUNT(*) AS c FROM items GROUP BY ROLLUP(k, k % (2))
SELECT u.id, (SELECT MAX(i.n) FROM items i WHERE i.s = u.s AND u.k = -1) AS v FROM users u
SELECT GROUPING_ID() AS g, COUNT(*) AS c FROM items GROUP BY GROUPING SETS (())
SELECT k, GROUPING(k) AS g, COUNT(*) AS c FROM items GROUP BY ROLLUP(k)
SELECT * FROM (SELECT k, s, b FROM items) PIVOT (COUNT(*) AS c, MAX(UPPER(s)) AS m FOR b IN (true AS y, false AS f))
SELECT q.d, ROW_NUMBER() OVER (ORDER BY q.k, q.d) AS r FROM (SELECT k, EXPLODE(COLLECT_LIST(id)) AS d FROM items GROUP BY k) q
SELECT s, COUNT(*) AS c FROM items GROUP BY s HAVING s IN (SELECT s FROM parts) OR COUNT(*) > 5

-- Constants that are selected and are keys of sets; others that are equal to them are none.
SELECT 2 AS two, 2 + COUNT(*) AS c, 2 AS n FROM items GROUP BY ROLLUP (1)
SELECT 'x' AS x, k, GROUPING_ID() AS g, COUNT(*) AS c FROM items GROUP BY GROUPING SETS ((1, 2), (1), ())
SELECT -1 AS less, k, COUNT(*) AS c FROM items GROUP BY CUBE (less, k) HAVING less IS NULL

-- Ties whose types only Spark knows.
SELECT i.id, (SELECT COUNT(*) FROM (SELECT CONCAT(k, '') AS t FROM notes WHERE k IS NOT NULL UNION ALL SELECT CONCAT('0', k) FROM tiny WHERE k IS NOT NULL) q WHERE q.t = i.k) AS c FROM items i
SELECT k + 1 AS l, COUNT(*) AS c FROM items GROUP BY k + 1 HAVING k + 1 IN (SELECT m FROM parts) OR COUNT(*) > 5
SELECT id, k IN (SELECT k FROM tiny UNION ALL SELECT REPLACE(CAST(k AS STRING), 'x', '') FROM parts) AS hit FROM items
SELECT u.id, u.k IN (SELECT e FROM notes LATERAL VIEW EXPLODE(ARRAY(k, k + 1)) x AS e) AS hit FROM users u

-- PIVOT of expressions, and what its columns are called; RANGE as a table.
SELECT * FROM (SELECT k, n, b FROM items) PIVOT (SUM(n) + 1 FOR b IN (true, false))
SELECT * FROM (SELECT k, n, b FROM items) PIVOT (COUNT(*) + 1 AS t, MAX(n) AS m FOR b IN (true AS y, false AS f))
SELECT * FROM (SELECT k, s, b FROM items) PIVOT (COUNT(*) + 1 AS t, CONCAT(MAX(s), 'x') AS m FOR b IN (true AS y, false AS f))
SELECT * FROM (SELECT k, n, b FROM items) PIVOT (COUNT(*) + 1 AS t, CAST(SUM(n) AS STRING) AS m FOR b IN (true AS y, false AS f))
SELECT k, `true`, `false_count(1)` AS c FROM (SELECT * FROM (SELECT k, n, b FROM items) PIVOT (SUM(n) FOR b IN (true))) JOIN (SELECT k, `false_count(1)` FROM (SELECT k, n, b FROM items) PIVOT (COUNT(*), MAX(n) FOR b IN (true, false))) q USING (k)
SELECT k, `-3` AS a, `null` AS b FROM (SELECT k, n, b FROM items) PIVOT (COUNT(b) FOR n IN (-3, NULL))
SELECT y, COUNT(i.id) AS c FROM RANGE(5, -5, -3) AS r(y) LEFT JOIN items i ON i.k = r.y GROUP BY y
SELECT COUNT(*) AS c FROM RANGE(0)

-- Conditions in the order in which they stand: one keeps from the next what that cannot take. So does WHERE from a join.
SELECT id FROM items WHERE k <> 0 AND 12 / k > 4
SELECT i.id, t.k FROM items i JOIN tiny t ON i.k = t.s WHERE t.s RLIKE '^[0-9]+$'

-- Aggregates by other names, several patterns, rows and columns that a call makes.
SELECT ANY(b) AS y, MEAN(n) AS m FROM items
SELECT k, ANY(b) FILTER (WHERE n > 0) AS y, MEAN(DISTINCT n) AS m FROM items GROUP BY k
SELECT id, s LIKE ANY ('a%', 'B_') AS x, s NOT LIKE ALL ('a', s) AS y, s ILIKE ANY ('A', 'b') AS z FROM items
SELECT id, INLINE_OUTER(ARRAY(STRUCT(k, n))) AS (y, z) FROM items
SELECT JSON_TUPLE(TO_JSON(STRUCT(id, s)), 'id', 's') AS (y, z) FROM items
SELECT t.k, LENGTH((SELECT BITMAP_CONSTRUCT_AGG(n.k) FROM notes n WHERE n.k = t.k)) AS h FROM tiny t

-- What WITH gives, under a name and with columns of its own.
WITH c AS (SELECT id, k FROM items WHERE k > 0) SELECT x.a, y.b FROM c AS x(a, b) JOIN c AS y(a, b) ON x.a = y.a + 1

-- Tables that are called as we might call ours.
SELECT sub1.id, sub1.value, (SELECT MAX(u.id) FROM users u WHERE u.k = sub1.k) AS m FROM (SELECT id, k, n AS value FROM items) sub1
SELECT sets.number, SUM(sets.number) AS t, COUNT(*) AS c FROM (SELECT n AS number FROM items) sets GROUP BY ROLLUP(sets.number)

-- Aggregates of everything of which nobody asks what they give, but that they are one row.
SELECT u.id, q.z FROM users u LEFT JOIN (SELECT 5 AS z, MAX(k) AS m FROM items) q ON u.k > 1
SELECT 5 AS z FROM items HAVING 1 = 1
