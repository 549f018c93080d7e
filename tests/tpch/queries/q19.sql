SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem, part
WHERE (
    p_partkey = l_partkey
    AND p_brand LIKE 'Brand#1%'
    AND p_container LIKE 'SM%'
    AND l_quantity >= 1 AND l_quantity <= 1 + 20
    AND p_size BETWEEN 1 AND 30
    AND l_shipmode IN ('AIR', 'REG AIR')
    AND l_shipinstruct = 'DELIVER IN PERSON'
  )
  OR (
    p_partkey = l_partkey
    AND p_brand LIKE 'Brand#2%'
    AND p_container LIKE 'MED%'
    AND l_quantity >= 10 AND l_quantity <= 10 + 20
    AND p_size BETWEEN 1 AND 40
    AND l_shipmode IN ('AIR', 'REG AIR')
    AND l_shipinstruct = 'DELIVER IN PERSON'
  )
  OR (
    p_partkey = l_partkey
    AND p_brand LIKE 'Brand#3%'
    AND p_container LIKE 'LG%'
    AND l_quantity >= 20 AND l_quantity <= 20 + 20
    AND p_size BETWEEN 1 AND 50
    AND l_shipmode IN ('AIR', 'REG AIR')
    AND l_shipinstruct = 'DELIVER IN PERSON'
  )
