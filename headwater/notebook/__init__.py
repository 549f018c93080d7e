"""Cells of a notebook enter: SQL behind `%%headwater`, and words behind `%headwater`.
Tables, charts and states leave, which update in place in their cells while pipelines run in the background.
Only IPython calls this room, through `%load_ext headwater`.
"""
