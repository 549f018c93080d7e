# A generator makes rows from one row: they come and go with it, and OUTER keeps a row of which it makes none.
> CREATE TABLE posts (id INT, tags STRING, numbers ARRAY<INT>, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE topics (tag STRING, name STRING) WITH ('connector' = 'values');
> CREATE VIEW tagged AS SELECT p.id, t.tag FROM posts p LATERAL VIEW OUTER EXPLODE(SPLIT(p.tags, ',')) t AS tag;
> CREATE VIEW placed AS SELECT p.id, t.place, t.tag FROM posts p, LATERAL POSEXPLODE(SPLIT(p.tags, ',')) AS t(place, tag);
> CREATE VIEW single AS SELECT p.id, u.number FROM posts p CROSS JOIN UNNEST(p.numbers) AS u(number);
> CREATE VIEW counts AS
  SELECT t.tag, COUNT(*) AS posts, SUM(p.id) AS ids FROM posts p LATERAL VIEW EXPLODE(SPLIT(p.tags, ',')) t AS tag GROUP BY t.tag;
> CREATE VIEW about AS
  SELECT t.id, c.name FROM (SELECT p.id, e.tag FROM posts p LATERAL VIEW EXPLODE(SPLIT(p.tags, ',')) e AS tag) t
  LEFT JOIN topics c ON c.tag = t.tag;

$ explain tagged
tagged when posts changes: key-local

$ explain counts
counts when posts changes: key-local

$ change posts
op | id | tags  | numbers
+  | 1  | a,b   | [1, 1]
+  | 2  | a     | [null, 3]
+  | 3  | NULL  | NULL
+  | 4  | b,b   | []

$ change topics
op | tag | name
+  | a   | Apple
+  | a   | Apple

$ step

$ rows tagged
id | tag
1  | a
1  | b
2  | a
3  | NULL
4  | b
4  | b

$ rows placed
id | place | tag
1  | 0     | a
1  | 1     | b
2  | 0     | a
4  | 0     | b
4  | 1     | b

$ rows single
id | number
1  | 1
1  | 1
2  | 3
2  | NULL

$ rows counts
tag | posts | ids
a   | 2     | 3
b   | 3     | 9

$ rows about
id | name
1  | Apple
1  | Apple
1  | NULL
2  | Apple
2  | Apple
4  | NULL
4  | NULL

# One tag less, the first tags of a post, a topic that loses a copy and one that comes; an array turned around is the same rows.
$ change posts
op | id | tags  | numbers
-  | 1  | a,b   | [1, 1]
+  | 1  | b     | [1, 1]
-  | 2  | a     | [null, 3]
+  | 2  | a     | [3, null]
-  | 3  | NULL  | NULL
+  | 3  | c,a   | NULL

$ change topics
op | tag | name
-  | a   | Apple
+  | c   | Cherry

$ step

$ changes tagged
op | id | tag
-  | 1  | a
-  | 3  | NULL
+  | 3  | a
+  | 3  | c

$ changes placed
op | id | place | tag
-  | 1  | 0     | a
+  | 1  | 0     | b
-  | 1  | 1     | b
+  | 3  | 0     | c
+  | 3  | 1     | a

$ changes single
op | id | number

$ changes counts
op | tag | posts | ids
-  | a   | 2     | 3
+  | a   | 2     | 5
+  | c   | 1     | 3

$ changes about
op | id | name
-  | 1  | Apple
-  | 1  | Apple
-  | 2  | Apple
+  | 3  | Apple
+  | 3  | Cherry

$ change posts
op | id | tags  | numbers
-  | 1  | b     | [1, 1]
-  | 2  | a     | [3, null]
-  | 3  | c,a   | NULL
-  | 4  | b,b   | []

$ step

$ rows tagged
id | tag

$ rows counts
tag | posts | ids
