-- Each changed field of each change as a row: who held what, until when.

CREATE VIEW holding_pivot AS
SELECT * FROM UNPIVOT_CHANGES(holding, KEY(holding_id, user_id), FIELDS(holding_stock, holding_quantity));

-- A text that grows: tail -f follows it.
CREATE TABLE pivot_file (
  holding_id        INT,
  user_id           INT,
  change_field      STRING,
  old_value         STRING,
  new_value         STRING,
  datetime_created  TIMESTAMP_LTZ(6),
  datetime_updated  TIMESTAMP_LTZ(6),
  datetime_deleted  TIMESTAMP_LTZ(6),
  datetime_inserted TIMESTAMP_LTZ(6),
  crud_type         STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'holding-pivot.txt',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);

-- And a table, for questions.
CREATE TABLE pivot_table (
  holding_id        INT,
  user_id           INT,
  change_field      STRING,
  old_value         STRING,
  new_value         STRING,
  datetime_created  TIMESTAMP_LTZ(6),
  datetime_updated  TIMESTAMP_LTZ(6),
  datetime_deleted  TIMESTAMP_LTZ(6),
  datetime_inserted TIMESTAMP_LTZ(6),
  crud_type         STRING
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:postgresql://postgres:5432/data_engineer',
  'table-name' = 'holding_pivot',
  'username' = 'data_engineer',
  'password' = 'password'
);

EXECUTE STATEMENT SET
BEGIN
  INSERT INTO pivot_file SELECT * FROM holding_pivot;
  INSERT INTO pivot_table SELECT * FROM holding_pivot;
END;
