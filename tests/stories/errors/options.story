# Options and connectors that do not exist, and their nearest.
! CREATE TABLE t (id INT) WITH ('connector' = 'vlaues');
  SELECT * FROM t;
error: unknown connector 'vlaues'
detail: The connectors that can be read are datagen, jdbc, kafka, mysql-cdc, postgres-cdc, upsert-kafka, values.
hint: Did you mean 'values'?

! CREATE TABLE t (id INT) WITH ('name' = 'x');
  SELECT * FROM t;
error: the table has no connector
detail: The connectors are datagen, jdbc, kafka, mysql-cdc, postgres-cdc, upsert-kafka, values.
hint: Add WITH ('connector' = '...') to the CREATE TABLE statement.

! CREATE TABLE t (id INT) WITH ('connector' = 'values', 'nam' = 'x');
  SELECT * FROM t;
error: connector 'values' has no option 'nam'
detail: Its options are name.
hint: Did you mean 'name'?

! CREATE TABLE t (id INT) WITH ('connector' = 'print');
  SELECT * FROM t;
error: connector 'print' can only be written
detail: The connectors that can be read are datagen, jdbc, kafka, mysql-cdc, postgres-cdc, upsert-kafka, values.
hint: Use a table with one of these where rows are read.

! SET 'pipeline.nme' = 'x';
error: SET has no option 'pipeline.nme'
detail: Its options are pipeline.name, headwater.recompute, headwater.batch.rows, sql-client.execution.result-mode.
hint: Did you mean 'pipeline.name'?
