"""The real programs Headwater brings along, so that nothing has to be installed by hand.

A folder and a port enter; a running server and its address leave.
The demo, the command line and the tests call; a service knows nothing of sources, plans or Spark.
"""
