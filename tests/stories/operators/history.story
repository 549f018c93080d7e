# The history of a table is a table: it only grows, and whatever is asked of it is maintained like everything else.
> CREATE TABLE accounts (id INT, `full name` STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW moves AS SELECT c.op, c.before.amount AS was, c.after.amount AS is_now FROM CHANGES(accounts) AS c;
> CREATE VIEW often AS SELECT op, COUNT(*) AS n FROM CHANGES(accounts) GROUP BY op;
> CREATE VIEW pivot AS SELECT id, change_field, old_value, new_value, crud_type
  FROM UNPIVOT_CHANGES(accounts, KEY(id), FIELDS(`full name`, amount));
> CREATE VIEW ever AS SELECT id, `full name`, is_deleted FROM WITH_DELETED(accounts, KEY(id));
> CREATE VIEW versions AS SELECT id, `full name`, amount, is_current FROM VERSIONS(accounts, KEY(id));

$ change accounts
op | id | full name | amount
+  | 1  | ann       | 10
+  | 2  | bob       | NULL

$ step

$ change accounts
op | id | full name | amount
-  | 1  | ann       | 10
+  | 3  | eve       | 5
-  | 2  | bob       | NULL
+  | 2  | bob       | 7

$ step

$ rows moves
op | was  | is_now
c  | NULL | 10
c  | NULL | 5
c  | NULL | 7
c  | NULL | NULL
d  | 10   | NULL
d  | NULL | NULL

$ rows often
op | n
c  | 4
d  | 2

$ rows pivot
id | change_field | old_value | new_value | crud_type
1  | amount       | 10        |           | d
1  | amount       | NULL      | 10        | c
1  | full name    | NULL      | ann       | c
1  | full name    | ann       |           | d
2  | amount       | NULL      |           | d
2  | amount       | NULL      | 7         | c
2  | amount       | NULL      | NULL      | c
2  | full name    | NULL      | bob       | c
2  | full name    | NULL      | bob       | c
2  | full name    | bob       |           | d
3  | amount       | NULL      | 5         | c
3  | full name    | NULL      | eve       | c

$ rows ever
id | full name | is_deleted
1  | ann       | true
2  | bob       | false
3  | eve       | false

$ rows versions
id | full name | amount | is_current
1  | ann       | 10     | false
2  | bob       | 7      | true
2  | bob       | NULL   | false
3  | eve       | 5      | true
