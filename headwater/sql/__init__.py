"""From the text people write to plans: dialect, statements, catalog, binding.

A script enters through `script.parse_script` and leaves as statements; a statement's query enters `bind` and
leaves as a plan.
The runtime calls; nothing here knows of Spark, and no secret leaves in a statement's repr, an error or SHOW.
"""
