# Windows of time as tables. A row that comes late, goes or moves changes the windows it is in, and no other; one without a
# time is in none.
> CREATE TABLE clicks (id INT, who STRING, n INT, at TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW tumbling AS
  SELECT window_start, window_end, SUM(n) AS n
  FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(at), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
> CREATE VIEW shifted AS
  SELECT id, window_start, window_time FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(at), INTERVAL '1' HOUR, INTERVAL '15' MINUTES));
> CREATE VIEW hopping AS
  SELECT window_start, COUNT(*) AS clicks
  FROM TABLE(HOP(DATA => TABLE clicks, TIMECOL => DESCRIPTOR(at), SLIDE => INTERVAL '5' MINUTES, SIZE => INTERVAL '10' MINUTES))
  GROUP BY window_start;
> CREATE VIEW cumulated AS
  SELECT window_start, window_end, SUM(n) AS n
  FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(at), INTERVAL '5' MINUTES, INTERVAL '15' MINUTES)) GROUP BY window_start, window_end;
> CREATE VIEW sessions AS
  SELECT who, window_start, window_end, COUNT(*) AS clicks
  FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(at), INTERVAL '5' MINUTES)) GROUP BY who, window_start, window_end;

$ explain tumbling
tumbling when clicks changes: linear

$ change clicks
op | id | who | n | at
+  | 1  | ann | 1 | 2024-01-01 00:01:00
+  | 2  | ann | 2 | 2024-01-01 00:09:59.999
+  | 3  | ann | 4 | 2024-01-01 00:10:00
+  | 4  | bob | 8 | 1969-12-31 23:59:59
+  | 99 | eve | 9 | NULL

$ step

$ rows tumbling
window_start        | window_end          | n
1969-12-31 23:50:00 | 1970-01-01 00:00:00 | 8
2024-01-01 00:00:00 | 2024-01-01 00:10:00 | 3
2024-01-01 00:10:00 | 2024-01-01 00:20:00 | 4
$ rows shifted
id | window_start        | window_time
1  | 2023-12-31 23:15:00 | 2024-01-01 00:14:59.999000
2  | 2023-12-31 23:15:00 | 2024-01-01 00:14:59.999000
3  | 2023-12-31 23:15:00 | 2024-01-01 00:14:59.999000
4  | 1969-12-31 23:15:00 | 1970-01-01 00:14:59.999000
$ rows hopping
window_start        | clicks
1969-12-31 23:50:00 | 1
1969-12-31 23:55:00 | 1
2023-12-31 23:55:00 | 1
2024-01-01 00:00:00 | 2
2024-01-01 00:05:00 | 2
2024-01-01 00:10:00 | 1
$ rows cumulated
window_start        | window_end          | n
1969-12-31 23:45:00 | 1970-01-01 00:00:00 | 8
2024-01-01 00:00:00 | 2024-01-01 00:05:00 | 1
2024-01-01 00:00:00 | 2024-01-01 00:10:00 | 3
2024-01-01 00:00:00 | 2024-01-01 00:15:00 | 7
$ rows sessions
who | window_start               | window_end          | clicks
ann | 2024-01-01 00:01:00        | 2024-01-01 00:06:00 | 1
ann | 2024-01-01 00:09:59.999000 | 2024-01-01 00:15:00 | 2
bob | 1969-12-31 23:59:59        | 1970-01-01 00:04:59 | 1

# A late row joins two sessions; another one leaves.
$ change clicks
op | id | who | n | at
+  | 5  | ann | 1 | 2024-01-01 00:05:30
-  | 4  | bob | 8 | 1969-12-31 23:59:59
+  | 6  | bob | 1 | 2024-01-01 00:00:00

$ step

$ changes tumbling
op | window_start        | window_end          | n
-  | 1969-12-31 23:50:00 | 1970-01-01 00:00:00 | 8
-  | 2024-01-01 00:00:00 | 2024-01-01 00:10:00 | 3
+  | 2024-01-01 00:00:00 | 2024-01-01 00:10:00 | 5
$ changes hopping
op | window_start        | clicks
-  | 1969-12-31 23:50:00 | 1
-  | 1969-12-31 23:55:00 | 1
-  | 2023-12-31 23:55:00 | 1
+  | 2023-12-31 23:55:00 | 2
-  | 2024-01-01 00:00:00 | 2
+  | 2024-01-01 00:00:00 | 4
-  | 2024-01-01 00:05:00 | 2
+  | 2024-01-01 00:05:00 | 3
$ changes sessions
op | who | window_start               | window_end          | clicks
-  | ann | 2024-01-01 00:01:00        | 2024-01-01 00:06:00 | 1
+  | ann | 2024-01-01 00:01:00        | 2024-01-01 00:15:00 | 4
-  | ann | 2024-01-01 00:09:59.999000 | 2024-01-01 00:15:00 | 2
-  | bob | 1969-12-31 23:59:59        | 1970-01-01 00:04:59 | 1
+  | bob | 2024-01-01 00:00:00        | 2024-01-01 00:05:00 | 1

$ change clicks
op | id | who | n | at
-  | 5  | ann | 1 | 2024-01-01 00:05:30

$ step

$ changes sessions
op | who | window_start               | window_end          | clicks
+  | ann | 2024-01-01 00:01:00        | 2024-01-01 00:06:00 | 1
-  | ann | 2024-01-01 00:01:00        | 2024-01-01 00:15:00 | 4
+  | ann | 2024-01-01 00:09:59.999000 | 2024-01-01 00:15:00 | 2
