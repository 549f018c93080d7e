# QUALIFY over groups: what is asked of a window may stand beside an aggregate outside of it. Rows by hand: Spark has no QUALIFY.
> CREATE TABLE t (id INT, k STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW most AS SELECT k, COUNT(*) AS c FROM t GROUP BY k QUALIFY COUNT(*) = MAX(COUNT(*)) OVER ();
> CREATE VIEW most_by_name AS SELECT k, COUNT(*) AS c FROM t GROUP BY k QUALIFY c = MAX(c) OVER ();
> CREATE VIEW most_of_with AS WITH x AS (SELECT k FROM t) SELECT k, COUNT(*) AS c FROM x GROUP BY k QUALIFY c = MAX(c) OVER ();
> CREATE VIEW named AS SELECT id FROM t QUALIFY ROW_NUMBER() OVER w = 1 WINDOW w AS (PARTITION BY k ORDER BY id DESC);
> CREATE VIEW last_most AS
  SELECT k, COUNT(*) AS c FROM t GROUP BY k QUALIFY c >= MAX(c) OVER () - 1 ORDER BY MAX(id) DESC, c LIMIT 1;
> CREATE VIEW least AS SELECT DISTINCT COUNT(*) AS c FROM t GROUP BY k QUALIFY MAX(COUNT(*)) OVER () > 1 ORDER BY c LIMIT 1;

$ change t
op | id | k
+  | 1  | a
+  | 2  | a
+  | 3  | b

$ step

$ rows most
k | c
a | 2

$ rows most_by_name
k | c
a | 2

$ rows most_of_with
k | c
a | 2

$ rows last_most
k | c
b | 1

$ rows least
c
1

$ rows named
id
2
3

$ change t
op | id | k
+  | 4  | b
+  | 5  | b
-  | 2  | a

$ step

$ rows most
k | c
b | 3

$ rows most_by_name
k | c
b | 3

$ rows named
id
1
5

$ rows last_most
k | c
b | 3

$ rows least
c
1
