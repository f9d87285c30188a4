"""The command line: what rules call and what can be run by hand."""

import argparse
import contextlib
import math
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from dpbandits import __version__
from dpbandits.engine.files import write_text
from dpbandits.errors import InputError
from dpbandits.suggestions import with_suggestion

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{self.prog}: {message} (see {self.prog} --help)")


def _pairs(key: str, words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    if any(not separator for _, separator, _ in pairs):
        raise InputError(f"{key} is {' '.join(words)!r}; allowed: NAME=VALUE, separated by spaces")
    names = [name for name, _, _ in pairs]
    if len(set(names)) < len(names):
        raise InputError(f"{key} is {' '.join(words)!r}; allowed: every NAME once")
    return {name: value for name, _, value in pairs}


def _number(key: str, text: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InputError(f"{key} is {text!r}; allowed: a number")


def _number_or_name(text: str) -> int | float | str:
    """Return the number that is given, or else the text: a value, or the name of a column."""
    with contextlib.suppress(InputError):
        return _number("params", text)
    return text


def _algorithm(text: str) -> Any:
    """Return the algorithm of a Python file, or the text, which is then an id."""
    from dpbandits.engine.own_algorithm import load_algorithm

    return load_algorithm(text) if text.endswith(".py") else text


def _given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the options that stand on the command line."""
    values = {name: getattr(arguments, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _numbers(key: str, text: str) -> list[int | float]:
    return [_number(key, each) for each in text.split(",")]


def _project(arguments: argparse.Namespace) -> Any:
    """Load the project folder, at the scale, seed and choice of the command line."""
    from dpbandits.project import Project

    keys = ("scale", "seed", "papers", "ours", "only")
    return Project.load(Path(arguments.project)).at(
        **{key: getattr(arguments, key, None) for key in keys}
    )


def list_algorithms(arguments: argparse.Namespace) -> None:
    """Print every algorithm with its parameters, readings, variants, source and guarantees."""
    from dataclasses import fields

    from dpbandits.algorithms import REGISTRY
    from dpbandits.guarantees import listed

    for algorithm in REGISTRY.values():
        parameters = ", ".join(each.name for each in fields(algorithm.parameters))
        print(f"{algorithm.id} ({parameters}): {algorithm.name}, {algorithm.paper}")
        for reading, values in algorithm.readings.items():
            print(f"    reading {reading}: {', '.join(values)} (default {values[0]})")
        print(f"    variants: {', '.join(algorithm.variants)}")
        for line in listed(algorithm):
            print(f"    {line}")


def simulate(arguments: argparse.Namespace) -> None:
    """Simulate and print final regrets with their 95 % intervals, and the mean pulls."""
    import dpbandits
    from dpbandits.bandits import INSTANCES
    from dpbandits.metrics import mean_interval

    if arguments.law not in INSTANCES:
        raise InputError(f"law is {arguments.law!r}; allowed: {', '.join(INSTANCES)}")
    bandit = INSTANCES[arguments.law][1]([_number("arms", each) for each in arguments.arms])
    simulation = dpbandits.simulate(
        algorithm=_algorithm(arguments.algorithm),
        params={k: _number_or_name(v) for k, v in _pairs("params", arguments.params).items()},
        variant=arguments.variant,
        readings=_pairs("readings", arguments.readings),
        bandit=bandit,
        horizon=arguments.horizon,
        runs=arguments.runs,
        workers=arguments.workers,
        cache=not arguments.no_cache,
        **_given(arguments, "seed", "memory_limit", "time_limit"),
    )
    for metric in ("pseudo_regret", "realised_regret"):
        mean, low, high = mean_interval(getattr(simulation, metric))
        print(f"{metric}: {mean:.6g} (95 % interval {low:.6g} to {high:.6g})")
    print("pulls: " + " ".join(f"{each:.6g}" for each in simulation.pulls.mean(axis=0)))
    bias = "subtracted" if arguments.runs > 1 else "kept"
    curve = simulation.nash_regret(at=[arguments.horizon], bias=bias)
    ends = [float(end[0]) for end in curve.interval()] if curve.runs > 1 else [-math.inf, math.inf]
    interval = f"95 % interval {ends[0]:.6g} to {ends[1]:.6g}"
    print(f"nash_regret: {curve.nash_regret[0]:.6g} ({interval}, bias {bias})")
    print(f"guarantee: {simulation.guarantee.describe()}")


def identify(arguments: argparse.Namespace) -> None:
    """Name the best arm of a linear bandit, trial by trial; print the share of successes."""
    import dpbandits
    from dpbandits.metrics import rate_interval

    bandit = dpbandits.linear(
        _rows("features", arguments.features),
        _numbers("theta", arguments.theta),
        arguments.law,
    )
    trials = dpbandits.identify(
        algorithm=_algorithm(arguments.algorithm),
        params={k: _number_or_name(v) for k, v in _pairs("params", arguments.params).items()},
        variant=arguments.variant,
        readings=_pairs("readings", arguments.readings),
        bandit=bandit,
        budget=arguments.budget,
        runs=arguments.runs,
        workers=arguments.workers,
        cache=not arguments.no_cache,
        **_given(arguments, "seed", "memory_limit", "time_limit"),
    )
    rate, low, high = rate_interval(trials.success.sum(), arguments.runs)
    print(f"success: {rate:.6g} (95 % interval {low:.6g} to {high:.6g})")
    pulls = trials.total_pulls
    print(f"pulls: {pulls.mean():.6g} on average, {pulls.max()} at most, of {arguments.budget}")
    print("pulls of each arm: " + " ".join(f"{each:.6g}" for each in trials.pulls.mean(axis=0)))
    searches = "exhaustive" if trials.exact.all() else "by exchange where sets are large"
    print(f"searches for arms to pull: {searches}")
    print(f"guarantee: {trials.guarantee.describe()}")


def audit(arguments: argparse.Namespace) -> None:
    """Bound the privacy loss of an algorithm from below, by runs on neighbouring inputs."""
    import dpbandits

    found = dpbandits.audit(
        _algorithm(arguments.algorithm),
        params={k: _number_or_name(v) for k, v in _pairs("params", arguments.params).items()},
        variant=arguments.variant,
        readings=_pairs("readings", arguments.readings),
        horizon=arguments.horizon,
        arms=arguments.arms,
        notion=arguments.notion,
        pair=_pair(arguments),
        features=None if arguments.features is None else _rows("features", arguments.features),
        workers=arguments.workers,
        cache=not arguments.no_cache,
        **_given(arguments, "runs", "search_runs", "level", "seed"),
    )
    print(found.describe())


def _pair(arguments: argparse.Namespace) -> Any:
    """Return the pair of tables of the command line, or None where a pair is to be searched for."""
    from dpbandits.audit.tables import make_pair

    if (arguments.x is None) != (arguments.x_prime is None):
        raise InputError("--x and --x-prime: one is missing; allowed: both tables, or none")
    if arguments.x is None:
        return None
    return make_pair(
        _rows("x", arguments.x), _rows("x'", arguments.x_prime), notion=arguments.notion
    )


def _rows(key: str, text: str) -> list[list[int | float]]:
    return [_numbers(key, row) for row in text.split(";")]


def guarantee(arguments: argparse.Namespace) -> None:
    """Print what an algorithm guarantees for all instances, and what is known of that."""
    import dpbandits
    from dpbandits.guarantees import at_delta

    found = dpbandits.guarantee(
        _algorithm(arguments.algorithm),
        params={k: _number(k, v) for k, v in _pairs("params", arguments.params).items()},
        variant=arguments.variant,
        readings=_pairs("readings", arguments.readings),
        horizon=arguments.horizon,
    )
    print(found.describe() if arguments.delta is None else at_delta(found, arguments.delta))


def convert(arguments: argparse.Namespace) -> None:
    """Convert a guarantee to another kind, and name the source of the conversion."""
    from dpbandits.guarantees import conversion

    kind, *words = arguments.to
    given, wanted = (
        {k: _number(k, v) for k, v in _pairs(key, pairs).items()}
        for key, pairs in (("given", arguments.given), ("to", words))
    )
    print(conversion(given, kind, wanted))


def check(arguments: argparse.Namespace) -> None:
    """Check config, experiments and claims, or an algorithm of your own in a Python file."""
    if arguments.file is not None:
        _check_file(arguments)
        return
    _project(arguments).check()
    print("config, experiments and claims are in order")


def _check_file(arguments: argparse.Namespace) -> None:
    """Print what the checks of a user-defined algorithm say; InputError where one failed."""
    from dpbandits.engine.check_algorithm import check_algorithm, require_passed
    from dpbandits.engine.own_algorithm import load_algorithm

    given = {k: _number_or_name(v) for k, v in _pairs("params", arguments.params).items()}
    checks = check_algorithm(
        load_algorithm(arguments.file),
        params=given or None,
        readings=_pairs("readings", arguments.readings),
        variant=arguments.variant,
        on_fail=None,
    )
    for line in checks:
        print(line)
    require_passed(checks)


def kernels(arguments: argparse.Namespace) -> None:
    """Compile what the chosen papers need, in one process."""
    from dpbandits.build import compile_paper_kernels

    print(f"compiled: {', '.join(compile_paper_kernels(_project(arguments)))}", file=sys.stderr)


def run(arguments: argparse.Namespace) -> None:
    """Simulate one named set of cells of a paper, or compute one of its exact results."""
    from dpbandits.build import build_results, require_fingerprint, simulate_part

    project, paper, name = _project(arguments), arguments.paper, arguments.name
    require_fingerprint(project, paper, name, arguments.fingerprint)
    if arguments.part is None:
        build_results(project, paper, name, arguments.workers)
    else:
        simulate_part(project, paper, name, _part(arguments.part), arguments.workers)


def _part(text: str) -> tuple[int, int]:
    numbers = text.split("/")
    if len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
        raise InputError(f"part is {text!r}; allowed: I/N, such as 2/8")
    return int(numbers[0]), int(numbers[1])


def draw(arguments: argparse.Namespace) -> None:
    """Draw one figure of a paper, with all its panels."""
    from dpbandits.drawing import draw_paper_figure

    draw_paper_figure(_project(arguments), arguments.paper, arguments.name)


def tabulate(arguments: argparse.Namespace) -> None:
    """Write one table of a paper as LaTeX and csv."""
    from dpbandits.drawing import write_paper_table

    write_paper_table(_project(arguments), arguments.paper, arguments.name)


def compare(arguments: argparse.Namespace) -> None:
    """Draw an algorithm of your own into a figure of a paper that is built."""
    from dpbandits.comparing import compare_figure
    from dpbandits.engine.own_algorithm import load_algorithm
    from dpbandits.engine.simulation import require_workers
    from dpbandits.own_lines import Own

    own = Own(
        load_algorithm(arguments.file),
        {k: _number_or_name(v) for k, v in _pairs("params", arguments.params).items()},
        arguments.variant,
        _pairs("readings", arguments.readings),
    )
    out = None if arguments.out is None else Path(arguments.out)
    workers = require_workers(arguments.workers)
    for path in compare_figure(_project(arguments), arguments.figure, own, out, workers):
        print(path)


def readings(arguments: argparse.Namespace) -> None:
    """Hold the published readings of a paper against ours."""
    from dpbandits.drawing import write_paper_readings

    write_paper_readings(_project(arguments), arguments.paper)


def judge(arguments: argparse.Namespace) -> None:
    """Judge every claim of a paper and write its ledger."""
    from dpbandits.judging import judge_paper

    judge_paper(_project(arguments), arguments.paper)


def ledger(arguments: argparse.Namespace) -> None:
    """Gather the verdicts on the claims of all chosen papers in one ledger."""
    from dpbandits.judging import write_whole_ledger

    write_whole_ledger(_project(arguments))


def explain(arguments: argparse.Namespace) -> None:
    """Say how the verdict on a claim came about."""
    from dpbandits.judging import explain_claim

    print(explain_claim(_project(arguments), arguments.claim))


def typeset(arguments: argparse.Namespace) -> None:
    """Write the report, every figure, table and verdict, as one PDF (needs pdflatex)."""
    from dpbandits.typesetting import typeset_report

    typeset_report(_project(arguments))


def verify(arguments: argparse.Namespace) -> None:
    """Recompute a random sample of the results' cells, and say of each whether it agrees."""
    from dpbandits.engine.simulation import require_workers
    from dpbandits.verification.sample import Plan
    from dpbandits.verification.verify import require_agreement, verify

    plan = Plan(arguments.cells, arguments.rounds, arguments.sample_seed)
    found = verify(_project(arguments), plan, require_workers(arguments.workers))
    for line in found.lines():
        print(line)
    require_agreement(found)


def artifact(arguments: argparse.Namespace) -> None:
    """Pack sources, results, figures, tables, ledger and report into one archive."""
    from dpbandits.artifact.archive import pack

    print(pack(_project(arguments), Path(arguments.out)))


def publish(arguments: argparse.Namespace) -> None:
    """Copy figures, tables and verdicts at paper scale to docs/, with their fingerprints."""
    from dpbandits.publishing import publish_figures

    for path in publish_figures(_project(arguments)):
        print(path)


def cost(arguments: argparse.Namespace) -> None:
    """Print what a run costs, by recorded timings: core-minutes and memory of each figure."""
    from dpbandits.cost_page import forecast_text
    from dpbandits.engine.simulation import require_workers

    print(forecast_text(_project(arguments), require_workers(arguments.cores)))


def _help(summary: str) -> str:
    """Return a sentence as the help of a command, in which argparse expands percent signs."""
    return summary.replace("%", "%%")


def _add(commands: Any, command: Any, *names: str, workers: bool = False) -> None:
    summary = command.__doc__
    parser = commands.add_parser(command.__name__, help=_help(summary), description=summary)
    parser.add_argument("--project", default=".", help="folder of the project (default: here)")
    parser.add_argument("--scale", choices=["paper", "quick"], help="instead of the config's")
    parser.add_argument("--seed", type=int, help="instead of the config's")
    parser.add_argument("--log", help="file that receives what went wrong, or the word done")
    for name in names:
        parser.add_argument(name)
    if workers:
        parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    parser.set_defaults(command=command)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose what is gathered."""
    for key, what in (("papers", "papers"), ("ours", "what is ours")):
        parser.add_argument(f"--{key}", nargs="*", help=f"{what}, instead of the config's")
    parser.add_argument("--only", help="one of them, instead of the config's")


def _add_check(commands: Any) -> None:
    """Add the command that checks the project, or a user-defined algorithm."""
    _add(commands, check)
    parser = commands.choices["check"]
    parser.add_argument("file", nargs="?", metavar="FILE.py", help="an algorithm of your own")
    _add_algorithm_options(parser)


def _add_run(commands: Any) -> None:
    """Add the command that simulates."""
    _add(commands, run, "paper", "name", workers=True)
    parser = commands.choices["run"]
    parser.add_argument("--part", metavar="I/N", help="only this part, into the cache")
    parser.add_argument("--fingerprint", help="what the results are to depend on, else an error")


def _add_compare(commands: Any) -> None:
    """Add the command that draws the user's algorithm into a figure."""
    _add(commands, compare, "figure", workers=True)
    parser = commands.choices["compare"]
    parser.add_argument("--with", dest="file", required=True, metavar="FILE.py")
    _add_algorithm_options(parser)
    parser.add_argument("--out", metavar="FOLDER", help="default: figures/compare/PAPER")


def _add_verify(commands: Any) -> None:
    """Add the command that recomputes a sample of the results."""
    _add(commands, verify, workers=True)
    parser = commands.choices["verify"]
    parser.add_argument("--cells", type=int, default=5, help="of each set of results (default: 5)")
    parser.add_argument(
        "--rounds", type=int, default=5 * 10**7, help="most rounds of a cell (default: 50000000)"
    )
    parser.add_argument("--sample-seed", type=int, default=1, help="of the draw (default: 1)")


def _add_artifact(commands: Any) -> None:
    """Add the command that packs the archive."""
    _add(commands, artifact)
    parser = commands.choices["artifact"]
    parser.add_argument("--out", metavar="FOLDER", default="artifact", help="default: artifact")


def _add_algorithm_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--readings", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--variant", default="as-written")


def _add_runs(commands: Any, command: Any) -> argparse.ArgumentParser:
    """Add a command that plays one algorithm on an instance of the command line."""
    summary = command.__doc__
    parser = commands.add_parser(command.__name__, help=_help(summary), description=summary)
    parser.add_argument("algorithm", help="an id (dpbandits list), or a Python file of your own")
    _add_algorithm_options(parser)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--no-cache", action="store_true", help="compute anew, and keep nothing")
    parser.add_argument("--memory-limit", type=int, metavar="BYTES", help="default: 8 gigabytes")
    parser.add_argument("--time-limit", type=float, metavar="HOURS", help="default: 24")
    parser.set_defaults(command=command, log=None)
    assert isinstance(parser, argparse.ArgumentParser)
    return parser


def _add_simulate(commands: Any) -> None:
    parser = _add_runs(commands, simulate)
    parser.add_argument("--law", default="bernoulli")
    parser.add_argument("--arms", nargs="+", required=True, help="mean or rate of each arm")
    parser.add_argument("--horizon", type=int, required=True)


def _add_identify(commands: Any) -> None:
    parser = _add_runs(commands, identify)
    parser.add_argument("--law", default="uniform", help="uniform (default) or bernoulli")
    parser.add_argument("--features", required=True, help='one row an arm: "0,1; 0,0.9; 10,0"')
    parser.add_argument("--theta", required=True, help='the parameter: "0.045,0.5"')
    parser.add_argument("--budget", type=int, required=True)


def _add_audit(commands: Any) -> None:
    """Add the command that bounds a privacy loss from below."""
    summary = audit.__doc__ or ""
    parser = commands.add_parser("audit", help=_help(summary), description=summary)
    parser.add_argument("algorithm", help="an id (dpbandits list), or a Python file of your own")
    _add_algorithm_options(parser)
    parser.add_argument("--horizon", type=int, required=True, help="rounds, or budget of pulls")
    parser.add_argument("--arms", type=int, default=2, help="default: 2")
    notions = "neighbours differ in one cell of a 'pull table' (default) or in one 'round'"
    parser.add_argument("--notion", default="pull table", help=notions)
    table = 'rewards of each arm: "0,0;1,1"; the last of a row goes on for ever'
    parser.add_argument("--x", metavar="TABLE", help=f"{table}; without, a pair is searched for")
    parser.add_argument("--x-prime", metavar="TABLE", help="its neighbour")
    parser.add_argument("--features", help="of a best-arm algorithm, one row an arm")
    parser.add_argument("--runs", type=int, help="per table (default: 1000000)")
    parser.add_argument("--search-runs", type=int, help="per table and pair (default: 20000)")
    parser.add_argument("--level", type=float, help="of the bound (default: 0.05)")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--workers", type=int, default=1, help="threads (default: 1)")
    parser.add_argument("--no-cache", action="store_true", help="compute anew, and keep nothing")
    parser.set_defaults(command=audit, log=None)


def _add_privacy(commands: Any) -> None:
    """Add the commands on guarantees."""
    summary = guarantee.__doc__ or ""
    parser = commands.add_parser("guarantee", help=_help(summary), description=summary)
    parser.add_argument("algorithm", help="an id (dpbandits list), or a Python file of your own")
    _add_algorithm_options(parser)
    parser.add_argument("--horizon", type=int, required=True, help="rounds, or budget of pulls")
    parser.add_argument("--delta", type=float, help="at which epsilon is wanted")
    parser.set_defaults(command=guarantee, log=None)
    summary = convert.__doc__ or ""
    parser = commands.add_parser("convert", help=_help(summary), description=summary)
    kinds = "pure, gdp, zcdp, renyi (with order=), approximate (with delta=)"
    parser.add_argument("given", nargs="+", metavar="KIND=VALUE", help=kinds)
    wanted = "a kind; renyi with order=, approximate with delta= or epsilon="
    parser.add_argument("--to", nargs="+", required=True, metavar="KIND", help=wanted)
    parser.set_defaults(command=convert, log=None)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(prog="dpbandits", description="Private bandits: simulate, judge, draw.")
    parser.add_argument("--version", action="version", version=f"dpbandits {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    parser.set_defaults(command=lambda arguments: parser.print_help(), log=None)
    listing = commands.add_parser("list", help=list_algorithms.__doc__)
    listing.set_defaults(command=list_algorithms, log=None)
    _add_simulate(commands)
    _add_identify(commands)
    _add_audit(commands)
    _add_privacy(commands)
    _add_check(commands)
    _add(commands, kernels)
    _add_run(commands)
    for command in (draw, tabulate):
        _add(commands, command, "paper", "name")
    _add_compare(commands)
    for command in (readings, judge):
        _add(commands, command, "paper")
    _add(commands, explain, "claim")
    for command in (ledger, typeset):
        _add(commands, command)
        _add_choice(commands.choices[command.__name__])
    _add_verify(commands)
    _add_artifact(commands)
    _add(commands, publish)
    _add(commands, cost)
    commands.choices["cost"].add_argument("--cores", type=int, default=2, help="default: 2")
    return parser.parse_args(words)


def _log(path: str | None, line: str) -> None:
    if path is not None:
        write_text(Path(path), line + "\n")


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends in one line on standard error and status 2.

    Ctrl-C ends in one line and status 130; without a command the help is printed.
    """
    log = None
    try:
        arguments = _arguments(words)
        log = arguments.log
        _log(log, "began")
        arguments.command(arguments)
        _log(log, "done")
    except InputError as error:
        message = with_suggestion(str(error))
        print(f"dpbandits: {message}", file=sys.stderr)
        with contextlib.suppress(InputError):
            _log(log, message)
        return 2
    except KeyboardInterrupt:
        print("dpbandits: interrupted", file=sys.stderr)
        with contextlib.suppress(InputError):
            _log(log, "interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception:
        # Standard error of a job ends with lines of Snakemake's; the log ends with the reason.
        with contextlib.suppress(InputError):
            _log(log, traceback.format_exc().rstrip())
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
