# A NULL inside a map of numbers stays NULL wherever rows with it are stored, cancelled and read again.
> CREATE TABLE readings (id INT, low INT, high DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW pairs AS SELECT id, MAP['low', low, 'one', 1] AS lows, MAP['two', CAST(2 AS DOUBLE), 'high', high] AS highs
  FROM readings;
> CREATE VIEW told AS SELECT id, lows['low'] AS low, lows['one'] AS one, highs['high'] AS high, highs['two'] AS two FROM pairs;

$ change readings
op | id | low  | high
+  | 1  | NULL | NULL
+  | 2  | 5    | NULL
+  | 3  | NULL | 0.5

$ step

$ rows told
id | low  | one | high | two
1  | NULL | 1   | NULL | 2
2  | 5    | 1   | NULL | 2
3  | NULL | 1   | 0.5  | 2

$ change readings
op | id | low  | high
-  | 1  | NULL | NULL
+  | 1  | 0    | NULL
-  | 3  | NULL | 0.5
+  | 3  | NULL | NULL

$ step

$ rows told
id | low  | one | high | two
1  | 0    | 1   | NULL | 2
2  | 5    | 1   | NULL | 2
3  | NULL | 1   | NULL | 2
