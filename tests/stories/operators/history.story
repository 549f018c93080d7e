# The history of a table is a table: it only grows, and whatever is asked of it is maintained like everything else.
> CREATE TABLE accounts (id INT, owner STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW moves AS SELECT c.op, c.before.amount AS was, c.after.amount AS is_now FROM CHANGES(accounts) AS c;
> CREATE VIEW often AS SELECT op, COUNT(*) AS n FROM CHANGES(accounts) GROUP BY op;
> CREATE VIEW pivot AS SELECT id, change_field, old_value, new_value, crud_type
  FROM UNPIVOT_CHANGES(accounts, KEY(id), FIELDS(owner, amount));
> CREATE VIEW ever AS SELECT id, owner, is_deleted FROM WITH_DELETED(accounts, KEY(id));

$ change accounts
op | id | owner | amount
+  | 1  | ann   | 10
+  | 2  | bob   | NULL

$ step

$ change accounts
op | id | owner | amount
-  | 1  | ann   | 10
+  | 3  | eve   | 5

$ step

$ rows moves
op | was  | is_now
c  | NULL | 10
c  | NULL | NULL
c  | NULL | 5
d  | 10   | NULL

$ rows often
op | n
c  | 3
d  | 1

$ rows pivot
id | change_field | old_value | new_value | crud_type
1  | owner        | NULL      | ann       | c
1  | amount       | NULL      | 10        | c
2  | owner        | NULL      | bob       | c
2  | amount       | NULL      | NULL      | c
1  | owner        | ann       |           | d
1  | amount       | 10        |           | d
3  | owner        | NULL      | eve       | c
3  | amount       | NULL      | 5         | c

$ rows ever
id | owner | is_deleted
1  | ann   | true
2  | bob   | false
3  | eve   | false
