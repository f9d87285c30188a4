# What the rules share. Paths, inputs and fingerprints are asked of OUTPUTS.

CAPTIONS = os.path.join(workflow.basedir, "workflow", "report")


def tabulated(paper, table):
    """Return the files of a table; its page goes into the report."""
    files = []
    for path in OUTPUTS.table_files(paper, table):
        if path.endswith(".html"):
            labels = {"figure": table, "panel": "table"}
            caption = os.path.join(CAPTIONS, "table.rst")
            path = report(path, caption=caption, category=paper, labels=labels)
        files.append(path)
    return files


def whole_ledger():
    """Return the files of the ledger of all papers; its page goes into the report."""
    files = []
    for path in OUTPUTS.whole_ledger():
        if path.endswith(".html"):
            labels = {"figure": "claims", "panel": "table"}
            caption = os.path.join(CAPTIONS, "table.rst")
            path = report(path, caption=caption, category="claims", labels=labels)
        files.append(path)
    return files


def published(paper, figure):
    """Return the files of a figure; the png of every panel goes into the report."""
    files = []
    for panel, path in OUTPUTS.figure_files(paper, figure):
        if path.endswith(".png"):
            labels = {"figure": figure, "panel": panel}
            caption = os.path.join(CAPTIONS, f"{paper}.rst")
            path = report(path, caption=caption, category=paper, labels=labels)
        files.append(path)
    return files
