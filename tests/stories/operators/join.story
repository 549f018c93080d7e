# Both sides change in one batch; NULL keys meet nothing; one side may have many matches.
> CREATE TABLE members (id INT, company STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE claims (id INT, member_id INT, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW joined AS
  SELECT c.id, m.company, c.total FROM claims c JOIN members m ON c.member_id = m.id WHERE c.total > 0;
> CREATE VIEW costs AS
  SELECT m.company, SUM(c.total) AS total, MAX(c.total) AS most
  FROM claims c JOIN members m ON c.member_id = m.id GROUP BY m.company;
> CREATE VIEW pairs AS SELECT c.id AS claim, m.id AS member FROM claims c CROSS JOIN members m;

$ explain joined
joined when claims changes: bilinear
joined when members changes: bilinear

$ change members
op | id | company
+  | 1  | QBE
+  | 2  | Allianz

$ change claims
op | id | member_id | total
+  | 10 | 1         | 100
+  | 11 | 1         | 50
+  | 12 | NULL      | 7
+  | 13 | 3         | 9

$ step

$ rows joined
id | company | total
10 | QBE     | 100
11 | QBE     | 50

# A member moves, a claim is repaid, a missing member arrives, all in one batch.
$ change members
op | id | company
-  | 1  | QBE
+  | 1  | Allianz
+  | 3  | QBE

$ change claims
op | id | member_id | total
-  | 11 | 1         | 50
+  | 11 | 1         | 60
-  | 12 | NULL      | 7

$ step

$ changes joined
op | id | company | total
-  | 10 | QBE     | 100
+  | 10 | Allianz | 100
-  | 11 | QBE     | 50
+  | 11 | Allianz | 60
+  | 13 | QBE     | 9

$ rows costs
company | total | most
Allianz | 160   | 100
QBE     | 9     | 9

$ change members
op | id | company
-  | 3  | QBE

$ step

$ changes costs
op | company | total | most
-  | QBE     | 9     | 9
