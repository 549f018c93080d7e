# Names with dots, blanks and reserved words; WITH names that hide a table; the same column twice in a SELECT.
> CREATE TABLE `shop.orders` (`order` INT, `two words` STRING, PRIMARY KEY (`order`) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW `by word` AS SELECT `two words` AS `group`, COUNT(*) AS n, MAX(`order`) AS `select` FROM `shop.orders` GROUP BY `two words`;
> CREATE VIEW hidden AS WITH `shop.orders` AS (SELECT `order` + 1 AS id FROM `shop.orders`) SELECT id FROM `shop.orders`;
> SELECT a.`order`, b.`order` FROM `shop.orders` a JOIN `shop.orders` b ON a.`two words` = b.`two words`;

$ change shop.orders
op | order | two words
+  | 1     | x y
+  | 2     | x y

$ step

$ rows by word
group | n | select
x y   | 2 | 2

$ rows hidden
id
2
3

$ change shop.orders
op | order | two words
-  | 2     | x y

$ step

$ changes query_1
op | order | order_1
-  | 1     | 2
-  | 2     | 1
-  | 2     | 2
