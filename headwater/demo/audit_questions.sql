-- How many times did a specific user change (also include delete) stock types?
select count(*) from holding_pivot
where change_field = 'holding_stock'
  and old_value <> new_value
  and old_value is not null
  and user_id = 'given user id';

-- How many times did a specific user change stock quantity?
select count(*) from holding_pivot
where change_field = 'holding_quantity'
  and old_value <> new_value
  and old_value is not null
  and user_id = 'given_user_id';

-- Between date 1 and date 2, what was the most commonly sold stock among all users?
select old_value from holding_pivot
where datetime_updated between 'given date 1' and 'given date 2'
  and old_value <> new_value
  and old_value is not null
group by old_value
order by count(*) desc
limit 1;

-- The same among stocks alone: the one above counts quantities too.
select old_value from holding_pivot
where datetime_updated between 'given date 1' and 'given date 2'
  and old_value <> new_value
  and old_value is not null
  and change_field = 'holding_stock'
group by old_value
order by count(*) desc
limit 1;
