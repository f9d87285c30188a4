"""`docs/cost.csv` has what the workflow measured, and nothing that is not built."""

from pathlib import Path

import pandas as pd
import pytest

from dpbandits.engine.files import write_text
from dpbandits.pages.costs import COSTS, KEY, MEASURED, cluster_page, read_costs, write_costs
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import targets, timing_path

ROOT = Path(__file__).parents[2]
HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def test_published_costs_are_of_what_is_built() -> None:
    project = Project.load(ROOT)
    built = {(target.paper, target.kind, target.name) for target in targets(project)}
    costs = read_costs(project)
    assert [*costs.columns] == [*KEY, *MEASURED]
    named = [*costs[KEY].itertuples(index=False, name=None)]
    assert len(named) == len(set(named)) > 200
    assert set(named) <= built


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The config of this project in a folder where one figure was measured."""
    (tmp_path / "config").symlink_to(ROOT / "config")
    project = Project.load(tmp_path)
    [figure] = [each for each in targets(project) if each.rule == "ts_is_dp_fig2"]
    numbers = "0.7\t0:00:00\t-\t-\t-\t-\t-\t-\t91.0\t0.64\n"
    write_text(timing_path(project, figure), HEAD + numbers)
    return project


def test_measured_jobs_replace_known_ones(project: Project) -> None:
    rows = [
        ["ts-is-dp", "figure", "fig2", 9.0, 9.0, 300.0],
        ["ts-is-dp", "figure", "fig3", 60.0, 120.0, 300.0],
        ["ts-is-dp", "figure", "no-more", 9.0, 9.0, 300.0],
        ["draft", "figure", "fig1", 9.0, 9.0, 300.0],
    ]
    write_text(project.folder / COSTS, pd.DataFrame(rows, columns=[*KEY, *MEASURED]).to_csv())
    assert write_costs(project).read_text().splitlines() == [
        "paper,kind,name,seconds,cpu_seconds,memory",
        "draft,figure,fig1,9.0,9.0,300.0",
        "ts-is-dp,figure,fig2,0.7,0.6,",
        "ts-is-dp,figure,fig3,60.0,120.0,300.0",
    ]
    page = cluster_page(project, "<!-- begin cost -->\n<!-- end cost -->\n")
    assert "| ts-is-dp | figure | fig3 | 2 | 2.0 | 2.0 | 300 |" in page


def test_without_measurements_there_are_no_costs(project: Project) -> None:
    assert write_costs(project.at(scale="quick")).read_text().count("\n") == 1
