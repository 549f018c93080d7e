# Beside a date, and wherever one is wanted, Spark takes 'today' for a date of its clock: no result could stay true with that.
> CREATE TABLE t (id INT, name STRING, day DATE, moment TIMESTAMP(3)) WITH ('connector' = 'values');
> CREATE VIEW texts AS
  SELECT id FROM t WHERE name = 'today' AND day > '2024-01-01' AND COALESCE(name, 'now') <> 'x';
> CREATE VIEW first_day AS SELECT id FROM t WHERE day > 'epoch';

$ change t
op | id | name  | day        | moment
+  | 1  | today | 2024-02-02 | 2024-02-02 10:00:00
+  | 2  | now   | 1960-02-02 | 2024-02-02 10:00:00

$ step

$ changes texts
op | id
+  | 1

$ changes first_day
op | id
+  | 1

! SELECT id FROM t WHERE day <= 'today';
error: 'today' gives another answer each time, so no maintained result could stay true
detail: A condition on the time of now lets rows come and go while no table changes; only changes are followed.
hint: Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join that, and update it as often as time is to pass.

! SELECT id FROM t WHERE 'now' > moment;
error: 'now' gives another answer each time, so no maintained result could stay true
detail: A condition on the time of now lets rows come and go while no table changes; only changes are followed.
hint: Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join that, and update it as often as time is to pass.

! SELECT id FROM t WHERE moment BETWEEN 'yesterday' AND 'tomorrow';
error: 'yesterday' gives another answer each time, so no maintained result could stay true
detail: A condition on the time of now lets rows come and go while no table changes; only changes are followed.
hint: Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join that, and update it as often as time is to pass.

! SELECT id FROM t WHERE day IN ('2024-01-01', 'today');
error: 'today' gives another answer each time, so no maintained result could stay true
detail: A condition on the time of now lets rows come and go while no table changes; only changes are followed.
hint: Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join that, and update it as often as time is to pass.

! SELECT id FROM t WHERE COALESCE(day, 'today') > DATE '2024-01-01';
error: 'today' gives another answer each time, so no maintained result could stay true
detail: A condition on the time of now lets rows come and go while no table changes; only changes are followed.
hint: Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join that, and update it as often as time is to pass.

! SELECT id FROM t WHERE CAST(name AS DATE) = 'today UTC';
error: 'today UTC' gives another answer each time, so no maintained result could stay true
detail: A condition on the time of now lets rows come and go while no table changes; only changes are followed.
hint: Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join that, and update it as often as time is to pass.

! SELECT id, DATE_ADD('today', 1) AS x FROM t;
error: 'today' gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT DATEDIFF(day, 'now') AS x FROM t;
error: 'now' gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT day FROM t UNION SELECT 'tomorrow';
error: 'tomorrow' gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT CASE WHEN id > 1 THEN day ELSE 'yesterday' END AS x FROM t;
error: 'yesterday' gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT id FROM (SELECT id, YEAR('today') AS y FROM t) WHERE y > 2000;
error: 'today' gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT id, (SELECT COUNT(*) FROM t u WHERE u.id > t.id AND u.day <= 'today') AS c FROM t;
error: 'today' gives another answer each time, so no maintained result could stay true
detail: A condition on the time of now lets rows come and go while no table changes; only changes are followed.
hint: Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join that, and update it as often as time is to pass.

! SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.id = t.id AND u.day <= 'today');
error: 'today' gives another answer each time, so no maintained result could stay true
detail: A condition on the time of now lets rows come and go while no table changes; only changes are followed.
hint: Leave it out of the view and ask it of the view's rows; or keep the moment in a table of one row, join that, and update it as often as time is to pass.

! SELECT id, TRY_TO_TIMESTAMP('now') AS x FROM t;
error: 'now' gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT id, TRY_TO_DATE('today') AS x FROM t;
error: 'today' gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT id, TO_TIMESTAMP_NTZ('now') AS x FROM t;
error: 'now' gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT id, CAST('to' || 'day' AS DATE) AS x FROM t;
error: a text gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT id FROM t WHERE day <= REPLACE('to_day', '_', '');
error: a text gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT id FROM t WHERE day = CAST(UNHEX('746F646179') AS STRING);
error: a text gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.
