# Bytes that are no UTF-8 become one text with the replacement character: as a value, as a group, as the key of a join.
> CREATE TABLE messages (
    id INT, said STRING, body AS UNHEX(said), PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW texts AS
  SELECT id, CAST(body AS STRING) AS text, IS_VALID_UTF8(body) AS fine, 'a' || body AS joined FROM messages;
> CREATE VIEW by_text AS
  SELECT text, COUNT(*) AS n FROM texts GROUP BY text;
> CREATE VIEW pairs AS
  SELECT a.id AS one, b.id AS other FROM texts AS a JOIN texts AS b ON a.text = b.text WHERE a.id < b.id;

$ change messages
op | id | said
+  | 1  | 61
+  | 2  | 61FF
+  | 3  | 61FE
+  | 4  | NULL

$ step

$ rows texts
id | text | fine  | joined
1  | a    | true  | aa
2  | a�   | false | aa�
3  | a�   | false | aa�
4  | NULL | NULL  | NULL

$ rows by_text
text | n
a    | 1
a�   | 2
NULL | 1

$ rows pairs
one | other
2   | 3

$ change messages
op | id | said
-  | 3  | 61FE
+  | 3  | 62

$ step

$ changes by_text
op | text | n
-  | a�   | 2
+  | a�   | 1
+  | b    | 1
