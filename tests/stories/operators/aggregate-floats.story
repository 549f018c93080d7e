# Floating sums leave no trace of what went in and out again, be it huge, not a number or infinite.
> CREATE TABLE readings (id INT, sensor STRING, value DOUBLE, small FLOAT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'values');
> CREATE VIEW sums AS SELECT sensor, SUM(value) AS value, AVG(small) AS small FROM readings GROUP BY sensor;

$ change readings
op | id | sensor | value  | small
+  | 1  | a      | 0.1    | 0.5
+  | 2  | a      | 0.2    | 1.5
+  | 3  | a      | 1e17   | 1e30

$ step

$ change readings
op | id | sensor | value  | small
-  | 3  | a      | 1e17   | 1e30
+  | 4  | b      | NaN    | 1

$ step

$ rows sums
sensor | value | small
a      | 0.3   | 1
b      | nan   | 1

$ change readings
op | id | sensor | value     | small
-  | 4  | b      | NaN       | 1
+  | 5  | b      | Infinity  | 2
+  | 6  | a      | -Infinity | NaN

$ step

$ change readings
op | id | sensor | value     | small
-  | 6  | a      | -Infinity | NaN
+  | 7  | b      | -Infinity | 4
+  | 8  | a      | 1e-12     | -2

$ step

$ rows sums
sensor | value | small
a      | 0.3   | 0
b      | nan   | 3
