"""Documents of Elasticsearch and OpenSearch, written in bulk under the batch id as their version.

ChangeSets and a batch id enter; documents and deletes leave, and the batch id once all of them are in.
Only the registry of sinks calls, through `sink.SEARCH_TYPES`.
"""
