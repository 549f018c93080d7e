"""Which maps Spark's generated code would spoil."""

from __future__ import annotations

import pytest

from headwater.spark.plain_maps import have_fixed_values


@pytest.mark.parametrize(
    ("kind", "spoiled"),
    [
        ("map<string,double>", True),
        ("map<string,decimal(10,2)>", True),
        ("map<int,boolean>", True),
        ("array<struct<a:string,b:map<string,timestamp_ntz>>>", True),
        ("map<string,map<string,int>>", True),
        ("map<string,string>", False),
        ("map<int,array<int>>", False),
        ("map<string,struct<a:int>>", False),
        ("array<int>", False),
    ],
)
def test_maps_of_values_of_a_fixed_size_are_told_apart(kind: str, *, spoiled: bool) -> None:
    assert have_fixed_values(["int", kind]) is spoiled
