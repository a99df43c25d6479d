# make demo | quick | test | fuzz | mutants | sbom | oldest | lint | format | bench | readme | gallery | docs | clean. Needs Python >= 3.11 and make, nothing else.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# torch first and by its exact version: another package's open range would pull CUDA builds
TORCH := $(shell grep '^torch==' constraints.txt)
SOURCES := src tests attacks benchmarks paper scripts examples

.PHONY: demo quick test fuzz oldest unit lint format types bench readme gallery docs clean mutants sbom

$(VENV)/.core: pyproject.toml constraints.txt
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(PIP) $(TORCH)
	$(PIP) --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) --editable '.[all,dev,docs]'
	touch $@

demo: $(VENV)/.core
	$(RUN) -m imputefree.lab.demo

# while editing: lint and the fast tests of the library, or of one folder: make quick TESTS=tests/lab
TESTS ?= tests --ignore tests/lab
quick: lint
	OMP_NUM_THREADS=1 $(RUN) -m pytest --numprocesses 2 --dist loadfile -m 'not slow' $(TESTS)

# everything; --dist loadfile: what tests of a file share is made once, not in each process
test: lint types unit

unit: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(RUN) -m pytest --numprocesses 2 --dist loadfile

# attacks on every promise, from where the last run stopped; see CONTRIBUTING.md
MINUTES ?= 30
fuzz: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(RUN) -m attacks --minutes $(MINUTES)

# the lower bounds of pyproject.toml, in an environment of its own; not part of `make test`
oldest:
	$(PYTHON) scripts/oldest.py

# small faults in the code, one at a time: would the tests notice?
mutants: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(RUN) -m scripts.mutants

# lists of all parts and their licences, and known vulnerabilities where they can be asked for
sbom: $(VENV)/.dev
	scripts/sbom

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check $(SOURCES)
	$(VENV)/bin/ruff format --check $(SOURCES)
	$(VENV)/bin/lint-imports
	$(RUN) scripts/check_layout.py

format: $(VENV)/.dev
	$(VENV)/bin/ruff check --fix $(SOURCES)
	$(VENV)/bin/ruff format $(SOURCES)

types: $(VENV)/.dev
	$(VENV)/bin/mypy

bench: $(VENV)/.dev
	$(RUN) benchmarks/start_cost.py
	$(RUN) benchmarks/step_cost.py
	$(RUN) benchmarks/sequence_step_cost.py
	$(RUN) benchmarks/ddpg_memory.py
	$(RUN) benchmarks/ranks_cost.py # needs two free cores
	$(RUN) -m benchmarks.misleading_columns
	$(RUN) benchmarks/mimic3_memory.py
	$(RUN) benchmarks/predict_memory.py
	$(RUN) -m benchmarks.serve_load
	test -z "$$IMPUTEFREE_DATA" || $(RUN) -m benchmarks.best_default run --tasks twelve adult flights
	test -z "$$IMPUTEFREE_DATA" || $(RUN) -m benchmarks.fit_cost
	test -z "$$IMPUTEFREE_DATA" || $(RUN) benchmarks/physionet2012.py
	test -z "$$IMPUTEFREE_DATA" || $(RUN) benchmarks/table_imputers.py
	test -z "$$IMPUTEFREE_DATA" || $(RUN) benchmarks/mnist_mixture.py
	test -z "$$IMPUTEFREE_DATA" || $(RUN) benchmarks/mnist_imputers.py
	test -z "$$IMPUTEFREE_DATA" || $(RUN) -m benchmarks.served_row
	$(RUN) benchmarks/predict_cost.py # last: not all of its limits are met, and it says so

readme: $(VENV)/.dev
	$(RUN) -m benchmarks.readme
	$(RUN) -m paper.tables

# the pictures of the documentation, from the examples and from benchmarks/results
gallery: $(VENV)/.dev
	$(RUN) -m scripts.gallery
	$(RUN) -m scripts.front_picture
	$(RUN) -m paper.pictures

docs: $(VENV)/.dev
	$(RUN) scripts/command_reference.py
	$(VENV)/bin/mkdocs build --strict --quiet
	@echo "Open build/docs/index.html"

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
