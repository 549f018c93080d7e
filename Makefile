# Every target of the house. CI calls these and nothing else; they need make and Python 3.11.

PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=
# A file runs on one worker, which starts what it needs once; slow files come first (tests/conftest.py). Who starts
# services waits for them: with one worker more than cores somebody is always at work.
SHARED = -n 3 --dist loadfile --no-loadscope-reorder
# The same statements again and again: here, unlike in other tests, Java wins back the time to optimise them.
PROVE = JDK_JAVA_OPTIONS=-XX:+UseSerialGC $(BIN)/python -m pytest $(SHARED) tests/tpch tests/random_queries
# Tried by targets of their own, not by `make test`.
LONG = tests/spill tests/demo/test_demo_kafka_again.py
# A standby copies a slot only if it lags behind in just the right way: on a busy machine that may not come about in time.
FAILOVER = tests/postgres/test_postgres_standby.py::test_a_slot_that_is_kept_at_the_standby_outlives_the_primary
# Programs that tests start would compile the whole house anew, each of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test proofs quick check update faults old-postgres soak fuzz bench bench-step bench-mysql bench-engine bench-capture bench-latency bench-console bench-scale build packages pictures test-spill

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done

install: $(STAMP) ## make .venv with everything in it, exact versions from lock.txt

$(STAMP): pyproject.toml lock.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint lock.txt --editable '.[dev]'
	touch $(STAMP)

demo: install ## watch a view follow a database; ARGS="--for 60s --plain" hands options on
	$(BIN)/headwater demo claims $(ARGS)

packages: install ## fetch the services and programs that tests start, once, into the cache
	$(BIN)/headwater services fetch
	$(BIN)/python -m tests.stage.programs

test: check packages ## everything that must pass
	$(BIN)/python -m pytest $(SHARED) $(addprefix --ignore ,$(LONG)) --deselect $(FAILOVER) $(ARGS)

proofs: install ## TPC-H under a stream of changes, and 150 random queries, against Spark batch
	$(PROVE) $(ARGS)

test-spill: install ## three gigabytes of State on a heap of one; about ten minutes
	$(BIN)/python -m pytest tests/spill $(ARGS)

quick: install ## the tests that need neither services nor a JVM, in a minute and a half
	$(BIN)/python -m pytest -n 2 -m 'not jvm and not services' $(ARGS)

check: install ## format, lint, types, architecture, docs
	$(BIN)/ruff format --check headwater tests bench
	$(BIN)/ruff check headwater tests bench
	$(BIN)/mypy
	$(BIN)/python -m pytest -m 'not jvm' tests/test_architecture.py tests/test_docs.py tests/test_docs_examples.py tests/test_operators.py

update: install ## write what stories and operators give now into their files; read the difference before you keep it
	$(BIN)/python -m pytest tests/test_operators.py tests/stories --update $(ARGS)

build: install ## the wheel in dist/, tried in an empty folder
	rm -rf dist build
	$(BIN)/python -m build --wheel --outdir dist .
	$(PYTHON) tests/build/try_wheel.py dist lock.txt

faults: packages ## kill everyone on the way, the bank's pipeline 1,000 times, and compare; takes hours; seed=S from=N goes on
	$(BIN)/python -m pytest tests/faults tests/demo/test_demo_kafka_again.py $(FAILOVER) --kills 30 --capture no $(if $(seed),--seed $(seed)) $(if $(from),--from $(from)) $(ARGS)

old-postgres: packages ## every test of the source Postgres on version 15 as well as on 18
	$(BIN)/python -m pytest $(SHARED) tests/postgres --deselect $(FAILOVER) --old-postgres $(ARGS)

soak: install ## an hour of a bank under load and kills; then every row is compared, memory and the server's log were flat
	$(BIN)/python -m tests.faults.soak $(ARGS)

fuzz: install ## two thousand random queries from a fresh seed; every failure is kept as a story in tests/stories/found
	$(BIN)/python -m tests.random_queries.fuzz $(ARGS)

bench: install ## Headwater beside Flink, Pathway, Debezium and others; hours; only=headwater,flink workload=W1 size=200k for a quick look
	$(BIN)/python -m bench $(if $(only),--only $(only)) $(if $(workload),--workload $(workload)) $(if $(size),--size $(size)) $(ARGS)

bench-step: install ## how long a step of the engine takes, part by part
	$(BIN)/python bench/run.py $(ARGS)

bench-mysql: install ## first rows and changes of a MySQL: ours beside Debezium's connector
	$(BIN)/python -m bench.capture $(ARGS)

bench-engine: install ## steps of all TPC-H queries beside a recompute by Spark; ARGS="--scale 5", ARGS="--claims 1 4 16"
	$(BIN)/python -m bench.engine $(ARGS)

bench-latency: install ## from a commit in Postgres to the row in another database, stop by stop
	$(BIN)/python -m bench.latency $(ARGS)

bench-capture: install ## first rows and changes of a Postgres: ours beside COPY, pg_recvlogical and Debezium's engine
	$(BIN)/python -m bench.postgres $(ARGS)

bench-console: install ## how much 50 people who look on slow down the steps; ARGS="--viewers 200"
	$(BIN)/python -m bench.console $(ARGS)

bench-scale: install ## a model of a step's time, fitted and held against a larger one; what more machines would do; ARGS="--quick"
	$(BIN)/python -m bench.scale $(ARGS)

pictures: packages ## take the pictures of the console in docs/images anew; look at each of them
	$(BIN)/python -m pytest tests/console/pictures.py $(ARGS)
