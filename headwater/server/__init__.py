"""One process, many pipelines: applications, their versions, and deployments that run them.

Requests enter, over HTTP, over Postgres' protocol or from the SQL client; answers, rows, changes and facts leave.
Only the command line starts it; it calls the runtime, and knows nothing of plans or of Spark.
"""
