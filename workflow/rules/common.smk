# What the rules share. Paths, inputs and fingerprints are asked of OUTPUTS.

CAPTIONS = os.path.join(workflow.basedir, "workflow", "report")


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
