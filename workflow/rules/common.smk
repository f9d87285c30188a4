# What the rules share: targets by file, and paths at the chosen scale.

KERNELS = str(kernels_path(PROJECT))
EPOCH = str(epoch_path(PROJECT))
CAPTIONS = os.path.join(workflow.basedir, "workflow", "report")


BY_FILE = {str(path): each for each in TARGETS for path in each.files}


def target(path):
    """Return what a file belongs to; only the chosen papers have targets."""
    if path not in BY_FILE:
        raise InputError(
            f"{path}: is not built; allowed: files of the papers in config.yaml"
        )
    return BY_FILE[path]


def chosen(extra):
    """Return the files of all that is to be built, the papers' own or supplementary."""
    return [
        path for each in wanted(PROJECT, TARGETS, extra=extra) for path in each.files
    ]


def results(paper, *names, suffix="parquet"):
    """Return files of a paper's results; its verdicts and digitised values are csv."""
    folder = PROJECT.results_folder() / paper
    return [str(folder / f"{name}.{suffix}") for name in names]


def simulation(w):
    """Return the target of the results that a job's wildcards name."""
    return target(*results(w.paper, w.name))


def verdicts(w):
    """Return the target of the verdicts on the claims of the paper that a job's wildcards name."""
    return target(*results(w.paper, "claims", suffix="csv"))


def figure(paper, *stems):
    """Return the files of a figure's panels and of the whole, the last; reports have the png."""
    files = []
    for path in (PROJECT.figures_folder(paper) / stem for stem in stems):
        png = reported(f"{path}.png", "figure.rst", paper, stems[-1], path.name)
        files += [png, f"{path}.pdf", f"{path}.csv"]
    return files


def table(paper, name, category=None):
    """Return the files of a table; reports have its page, by default under the paper."""
    path = PROJECT.tables_folder(paper) / name
    page = reported(f"{path}.html", "table.rst", category or paper, name, "table")
    return [f"{path}.tex", f"{path}.tabular", page, f"{path}.csv"]


def reported(path, caption, category, name, panel):
    """Return a file that is part of the report."""
    labels = {"figure": name, "panel": panel}
    caption = os.path.join(CAPTIONS, caption)
    return report(path, caption=caption, category=category, labels=labels)


def has_rules(paper):
    """Return whether a paper or comparison has a file of rules."""
    return os.path.exists(os.path.join(workflow.basedir, f"workflow/rules/{paper}.smk"))


def outputs(each):
    """Return the files of a figure or table that has no rule of its own, for the report."""
    if each.kind == "table":
        return table(each.paper, each.name)
    whole, *panels = dict.fromkeys(path.stem for path in each.files)
    return figure(each.paper, *panels, whole)


def log_of(each):
    """Return the log of a figure or table that has no rule of its own."""
    name = each.name if each.kind == "figure" else f"table-{each.name}"
    return f"logs/{each.paper}/{name}.log"
