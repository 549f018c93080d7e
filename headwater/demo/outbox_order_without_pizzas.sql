-- A table that orders nothing yet. The join with pizzas would find nothing, and nothing would be told.
BEGIN;
DO
  $$
  DECLARE
    INSERTED_ORDER_ID INT;
    JSON_ORDER text;
  BEGIN

  INSERT INTO ORDERS
    (TABLE_ASSIGNMENT_ID, ORDER_TIME, PIZZAS)
    VALUES (2, CURRENT_TIMESTAMP, '{}') RETURNING id into INSERTED_ORDER_ID;

  select JSONB_BUILD_OBJECT(
      'order_id', orders.id,
      'client_name', clients.name,
      'table_name', tables.name,
      'pizzas', '[]'::jsonb
    ) into JSON_ORDER
    from orders
      join table_assignment on orders.table_assignment_id = table_assignment.id
      join clients on table_assignment.client_id = clients.id
      join tables on table_assignment.table_id = tables.id
    where orders.id=INSERTED_ORDER_ID;

    SELECT * FROM pg_logical_emit_message(true,'myprefix',JSON_ORDER) into JSON_ORDER;
  END;
  $$;
END;
