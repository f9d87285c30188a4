# Every target sets up the environment it needs from the hashed locks. `make help` lists them.
PYTHON ?= python3
# Assigned, so that only make's own arguments count, and no variable of these names in a user's
# environment: UPDATE=1 rewrites what is compared with.
CORES = $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PROFILE =
SCALE =
UPDATE =
NUMBER = 60
PACKAGES = algorithms bandits engine
AUTHORS =
# Snakemake would wait for ever for a core.
ifneq ($(shell [ "$(CORES)" -ge 1 ] 2>/dev/null && echo yes),yes)
  $(error CORES is '$(CORES)'; allowed: a whole number of 1 or more, as CORES=2)
endif
# Nor is it installed elsewhere, as a user's pip.conf or variables may have it.
PIP_FLAGS = --quiet --disable-pip-version-check --no-compile
# Snakemake and matplotlib keep folders of their own; they, too, stay in the project.
SNAKEMAKE = XDG_CACHE_HOME="$(CURDIR)/.cache" .venv/bin/snakemake --quiet reason \
  $(if $(PROFILE),--workflow-profile profiles/$(PROFILE),--cores $(CORES))
# A run that was killed leaves its lock, as does one that is under way.
define build
	@$(SNAKEMAKE) $1 || { status=$$?; \
	  ls .snakemake/locks/* >/dev/null 2>&1 && \
	    echo "$(CURDIR) is locked by another run; where that was killed: .venv/bin/snakemake --unlock, and make again" >&2; \
	  exit $$status; }
endef
# The last words of a build: what there is now, where, and what to run next.
define report-built
	@echo "built: $1"
	@echo "where: figures/$2PAPER/*.png, results/$2tables/PAPER/*.tex, results/$2ledger.csv"
	@echo "next: $3"
endef
# What the locks, and so every environment of the project, have beside the library's own needs.
EXTRAS = --group build --extra workflow --extra artifact
COMPILE = .venv-test/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
# Slurm's plugin is there for `make slurm-test`; elsewhere its client would wait for a controller.
IN_TEST = SLURM_CONF=/dev/null PATH="$(CURDIR)/.venv-test/bin:$$PATH"

# Set in many containers; a build starts hundreds of processes, and each would compile the libraries.
unexport PYTHONDONTWRITEBYTECODE
# These lead Python to other libraries than the locks', or pip and uv to another Python than the one
# they are told of, and Snakemake to a profile of the user's.
unexport PYTHONHOME PYTHONPATH PYTHONUSERBASE PYTHONOPTIMIZE SNAKEMAKE_PROFILE
unexport PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PIP_PYTHON UV_PYTHON UV_SYSTEM_PYTHON UV_PROJECT UV_WORKING_DIR

.DEFAULT_GOAL := help
# With -j two Snakemakes would want one folder at once; a build has CORES processes of its own.
.NOTPARALLEL:

PYTEST = $(IN_TEST) pytest -q -n $(CORES) --dist loadfile --no-loadscope-reorder
# Each is run, whatever became of those before it; tests may not meet stale results.
RELEASE = tools lint everything test slow golden faults slurm-test verify published

.PHONY: help figures verdicts extras everything quick quick-everything report publish site test slow golden published release-check tools faults mutants lint format bench check lock clean slurm-test artifact verify notebooks

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14
	@echo "Variables: CORES=$(CORES) (processes), PYTHON=$(PYTHON) (3.11 or newer), PROFILE=slurm (docs/cluster.md)"

figures: .venv/installed ## every figure and table of the papers, at their own scale
	$(call build,figures)
	$(call report-built,the figures and tables of the papers,,make verdicts; make verify)

verdicts: .venv/installed ## the verdicts on all claims
	$(call build,verdicts)
	$(call report-built,the verdicts on all claims,,.venv/bin/dpbandits explain TSDP-C8; make verify)

extras: .venv/installed ## the supplementary figures, tables and comparisons, and the findings
	$(call build,extras)
	$(call report-built,supplementary figures and tables and the findings,,make report; make verify)

everything: .venv/installed ## figures, verdicts and extras
	$(call build,all extras)
	$(call report-built,all figures and tables and the verdicts on all claims,,make report; make verify)

quick: .venv/installed ## the papers' figures, tables and verdicts at a small scale (under results/quick, figures/quick)
	$(call build,all --config scale=quick)
	$(call report-built,figures and tables and verdicts with few runs; none of it is evidence,quick/,make verify SCALE=quick; make figures)

quick-everything: .venv/installed ## and the supplementary ones, at that scale
	$(call build,all extras --config scale=quick)
	$(call report-built,all figures and tables and verdicts with few runs; none of it is evidence,quick/,make verify SCALE=quick; make everything)

report: .venv/installed ## results/report.html of everything, by Snakemake
	$(call build,all extras)
	$(call build,all extras --report results/report.html)

publish: .venv/installed everything ## copy figures (pdf) and their panels (png, csv) to docs/figures, tables to docs/tables
	.venv/bin/dpbandits publish

site: .venv-test/installed ## the documents to read and search in a browser, without a network: site/index.html
	$(IN_TEST) sphinx-build -q -W -d .cache/doctrees -c docs . site
	@echo site/index.html

artifact: .venv/installed report site ## one archive to cite and run, artifact/dpbandits-*.tar.gz
	.venv/bin/dpbandits artifact

verify: .venv/installed ## recompute a random sample of batches of runs (SCALE=quick: of `make quick`): exact, agrees within chance, or outside
	.venv/bin/dpbandits verify --workers $(CORES) $(if $(SCALE),--scale $(SCALE))

notebooks: .venv/installed .venv-test/installed ## run the notebooks of examples/ in a kernel and keep their outputs
	$(call build,dp_ts_ucb_fig7 dp_ncb_fig1 --config scale=quick)
	$(IN_TEST) python tests/notebooks.py

test: .venv-test/installed ## all tests but slow ones: the quick workflow of one paper and a part of the faults among them
	$(PYTEST)

slow: .venv-test/installed ## what takes minutes more: laws, edits built anew, the archive unpacked elsewhere
	$(PYTEST) -m slow

golden: .venv-test/installed ## decisions, exact results and the csv of the quick build are as committed (UPDATE=1 writes them); 2 minutes, 8 where nothing is cached
	$(if $(UPDATE),$(IN_TEST) PYTHONPATH=tests python tests/golden/test_golden.py && $(IN_TEST) python tests/golden_csv.py,$(PYTEST) -m "not slow and not release" tests/golden)

published: .venv-test/installed ## published copies belong to the present sources
	$(IN_TEST) pytest -q -m release

release-check: ## everything that a release has to pass: `make everything` and all tests, an hour on two idle cores; the last line names the parts that fail
	@failed=; for part in $(RELEASE); do \
	  echo "release-check: $$part"; $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; \
	done; \
	if [ -n "$$failed" ]; then echo "release-check: failed in:$$failed" >&2; exit 1; fi; \
	echo "release-check: everything passes"

tools: ## what tests are skipped without: pdflatex and Chromium
	@command -v pdflatex >/dev/null || { echo "pdflatex is not installed (texlive-latex-recommended)" >&2; exit 1; }
	@command -v chromium || command -v chromium-browser || command -v google-chrome || { echo "Chromium is not installed" >&2; exit 1; }

faults: .venv-test/installed ## break it on purpose: kills, two runs at once, a disk that is closed (docs/reliability.md); five minutes
	$(PYTEST) -m faults

mutants: .venv-test/installed ## which of NUMBER=60 small faults of PACKAGES the tests notice, those of the package by their names
	$(IN_TEST) python tests/mutants.py --number $(NUMBER) --packages $(PACKAGES)

lint: .venv-test/installed ## ruff, mypy, import-linter, snakefmt, codespell, schemas, and what the Scientific Python guide asks
	$(IN_TEST) ruff check .
	$(IN_TEST) ruff format --check .
	$(IN_TEST) mypy
	$(IN_TEST) lint-imports
	$(IN_TEST) snakefmt --check Snakefile workflow
	$(IN_TEST) codespell *.md docs src config workflow examples benchmarks Makefile Snakefile
	$(IN_TEST) check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/ci.yml
	$(IN_TEST) check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(IN_TEST) check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(IN_TEST) sp-repo-review --show err .
	$(IN_TEST) pyroma --min 10 --skip-tests AuthorEmail,Url .

format: .venv-test/installed ## format the sources
	$(IN_TEST) ruff check --fix .
	$(IN_TEST) ruff format .
	$(IN_TEST) snakefmt Snakefile workflow

bench: .venv/installed ## ns a round of each kernel and of its random draws; beside released code of dp-ncb in AUTHORS (benchmarks/authors)
	.venv/bin/python benchmarks/kernels.py
	.venv/bin/python benchmarks/released.py $(AUTHORS)
	.venv/bin/python benchmarks/identification.py
	.venv/bin/python benchmarks/nash.py
	.venv/bin/python benchmarks/policies.py
	.venv/bin/python benchmarks/beside_pymab.py
	.venv/bin/python benchmarks/makespan.py

check: .venv/installed ## check config, experiments and claims
	.venv/bin/dpbandits check

# A waiting Snakemake does not end when it is asked to, hence the second signal.
slurm-test: .venv-test/installed ## a Slurm cluster of two nodes gives the bytes of the local run (root)
	$(IN_TEST) timeout -k 60 1800 python tests/cluster/slurm_test.py

lock: .venv-test/installed ## resolve both locks; pins that still fit stay
	$(COMPILE) $(EXTRAS) pyproject.toml -o requirements.lock
	$(COMPILE) $(EXTRAS) --extra slurm --group dev pyproject.toml -o requirements-test.lock

clean: ## delete what was built (figures, results, logs), keep caches and environments
	rm -rf logs .snakemake
	find results figures -mindepth 1 ! -name README.md -delete

# uv first, which is fast, and compiles what it installs: the jobs of a first build would spend 40 seconds on it. Tests import
# a part of it, and do without.
# Where pip alone is told of an index, uv does not reach it, and pip installs all, uncompiled.
%/installed: requirements.lock requirements-test.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "PYTHON is $(PYTHON); allowed: Python 3.11 or newer (make PYTHON=...)" >&2; exit 2; }
	@echo "setting up $(@D) (a quarter of a minute, or one where uv cannot be used)"
	@$(PYTHON) -m venv $(if $(filter $@,$(MOVED)),--clear) $(@D)
	@sed -n '/^uv==/,/[^\]$$/p' requirements-test.lock >$(@D)/uv.lock
	@lock=requirements$(if $(findstring test,$(@D)),-test).lock python=$(@D)/bin/python && \
	  { $$python -m pip install $(PIP_FLAGS) --require-hashes -r $(@D)/uv.lock && \
	    $$python -m uv pip install --python $$python --quiet $(if $(findstring test,$(@D)),,--compile-bytecode) --require-hashes -r $$lock || \
	    $$python -m pip install $(PIP_FLAGS) --require-hashes -r $$lock; } && \
	  $$python -m pip install $(PIP_FLAGS) --no-deps --no-build-isolation -e .
	@touch $@

# An environment has the paths of its folder and of its Python: where one of them moved it is made anew.
MOVED := $(foreach env,.venv .venv-test,$(shell [ ! -e $(env)/installed ] || \
  { [ -x $(env)/bin/python ] && grep -qsF " $(CURDIR)/$(env)" $(env)/pyvenv.cfg; } || echo $(env)/installed))
ifneq ($(MOVED),)
$(MOVED): FORCE
FORCE:
endif
