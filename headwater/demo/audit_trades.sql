-- C
insert into bank.holding values (1001, 2, 'SP500', 1, now(), now());
insert into bank.holding values (1002, 3, 'SP500', 1, now(), now());

-- U
update bank.holding set holding_quantity = 100 where holding_id = 1000;

-- D
delete from bank.holding where user_id = 3;
delete from bank.holding where user_id = 2;

-- C
insert into bank.holding values (1003, 3, 'VTSAX', 100, now(), now());

-- U
update bank.holding set holding_quantity = 10 where holding_id=1003;
