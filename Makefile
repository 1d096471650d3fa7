# Two commands for users (demo, test), one more for developers (check). Each does all its set-up first.

VENV := .venv
PYTHON := $(VENV)/bin/python
LOCK := requirements.lock
READY := $(VENV)/.ready

.PHONY: corpus demo test check format clean setup lock

demo: setup
	$(PYTHON) -m examples.demo

test: setup
	$(PYTHON) -m pytest -n 2 --dist loadfile

corpus: setup
	$(PYTHON) scripts/corpus.py

check: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(PYTHON) -m pytest tests/test_floors.py -q

setup: $(READY)

$(READY): $(LOCK) pyproject.toml scripts/setup.sh
	sh scripts/setup.sh $(VENV) $(LOCK)
	touch $(READY)

format: setup
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

lock:
	uv pip compile pyproject.toml --group dev --universal --generate-hashes --python-version 3.12 --no-header --upgrade -q -o $(LOCK)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache dist build
