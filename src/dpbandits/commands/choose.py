"""Rank the private algorithms for a number of arms, a horizon and a privacy budget."""

import argparse

import pandas as pd

import dpbandits
from dpbandits.commands.options import PROJECT_HELP, add_workers_option, count, path
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.text_tables import aligned

CLASSES = ("pure", "approximate", "local")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the question, and where its answer comes from."""
    parser.add_argument("--arms", type=count, required=True, help="number of arms")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--horizon", type=count, help="rounds, as 1000000 or 1e6")
    length.add_argument("--budget", type=count, help="pulls, to find the best arm")
    parser.add_argument("--epsilon", type=float, required=True, help="privacy budget")
    parser.add_argument(
        "--class",
        dest="privacy",
        choices=CLASSES,
        default=CLASSES[0],
        help="epsilon-DP (default), (epsilon, 1e-6)-DP, or epsilon-DP of every reward",
    )
    parser.add_argument(
        "--simulate", action="store_true", help="play exactly this, on the families of instances"
    )
    parser.add_argument(
        "--runs", type=count, default=10, help="on each family, of --simulate (default: 10)"
    )
    add_workers_option(parser)
    parser.add_argument(
        "--scale", choices=["paper", "quick"], help="read what was built here, not the published"
    )
    parser.add_argument("--project", type=path, default=".", metavar="FOLDER", help=PROJECT_HELP)
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    keys = ("arms", "epsilon", "horizon", "budget", "privacy", "simulate", "runs", "workers")
    given = {key: getattr(arguments, key) for key in (*keys, "scale", "project")}
    answer = dpbandits.choose(**given)
    print_table(answer, arguments.format, text(answer))


def text(answer: pd.DataFrame) -> str:
    """Return a ranking to read, its notes first."""
    measure = "regret" if "regret" in answer else "success"
    form = "{:,.0f} [{:,.0f}, {:,.0f}]" if measure == "regret" else "{:.1%} [{:.1%}, {:.1%}]"
    table = pd.DataFrame(
        {
            "place": [f"{each}" if pd.notna(each) else "" for each in answer["place"]],
            "algorithm": [
                name if variant == "as-written" else f"{name}, {variant}"
                for name, variant in zip(answer["name"], answer["variant"], strict=True)
            ],
            "verdict": answer["verdict"],
            measure: [
                form.format(*ends) if pd.notna(ends[0]) else ""
                for ends in zip(answer[measure], answer["lo"], answer["hi"], strict=True)
            ],
        }
    )
    if measure == "regret":
        ratios = answer[["price", "worst"]].map(lambda value: f"{value:.3g}" if value > 0 else "")
        table = table.assign(price=ratios["price"], worst=ratios["worst"])
    return "\n".join(
        [*answer.attrs["notes"], "", aligned(table.assign(guarantee=answer["guarantee"]))]
    )
