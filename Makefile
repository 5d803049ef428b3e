# Two commands on a fresh machine: make demo, make test. Both set up all they need in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Nothing was compiled at installation: where the environment forbids to keep bytecode, every process would read all libraries from source.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint types bench docs browser java clean

demo: .venv/core
	$(BIN)/hush demo --out demo

# Types and imports are checked while the tests run, and reported after them; both must pass.
test:
	@$(MAKE) -s -j2 .venv/test browser java
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@mkdir -p build; $(MAKE) -s types >build/types.log 2>&1 & types=$$!; \
	$(BIN)/python -m pytest; tests=$$?; \
	wait $$types; checked=$$?; \
	cat build/types.log; \
	exit $$((tests + checked))

lint: .venv/test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	@$(MAKE) -s types

types:
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/test
	$(BIN)/python -m pytest -m nightly
	$(BIN)/python benchmarks/run.py

docs: .venv/docs
	$(BIN)/python -m docs.build
	cd build/docs && $(abspath $(BIN))/zensical build --strict --clean
	rm -rf site && mv build/docs/site site

.venv/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --no-compile -c constraints.txt -e .
	touch $@

# Not on top of .venv/core: one resolution of everything is quicker than two.
.venv/test: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --no-compile -c constraints.txt -e ".[test,lint]"
	touch .venv/core $@

.venv/docs: .venv/core
	$(BIN)/pip install -q --no-compile -c constraints.txt -e ".[docs]"
	touch $@

# The tests of pages need a browser; where none can be had they are skipped.
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing chromium with apt-get: the tests open the pages in a browser"; \
		apt-get install -qq -y chromium >/dev/null 2>&1 && exit 0; \
	fi; \
	echo "no chromium found: browser tests are skipped"

# The tests on Spark need Java; where none can be had they are skipped. After the browser: apt-get works for one at a time.
java: browser
	@{ [ -n "$$JAVA_HOME" ] || command -v java >/dev/null; } && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing Java with apt-get: the tests run Spark on this machine"; \
		apt-get install -qq -y openjdk-17-jre-headless >/dev/null 2>&1 && exit 0; \
	fi; \
	echo "no Java found: tests on Spark are skipped"

clean:
	rm -rf .venv demo demo.private build site
