from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from prefect.states import Completed

from flows.context.study import Outcome
from flows.run.command_line import main
from flows.run.sweep_flow import sweep
from flows.run.sweep_request import AXES, SweepRequest
from flows.studies.registry import STUDIES
from flows.studies.requests import check_request, read_request
from flows.system.environment import PACKAGE_ROOT
from tasks.errors import UserError

NODES = "node_classification"
SMALL = ["--plain", "--study", NODES, "--eps-a", "8", "--methods", "base", "--backbones", "gcn", "--repeats", "1"]


def test_a_part_of_the_grid_is_run_and_a_wider_one_reuses_its_points(
    workspace: Path, declare: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(private=False)
    rows = tmp_path / "rows.json"
    assert main("sweep", [*SMALL, "--dataset", "friends", "--json", str(rows)]) == 0
    found = json.loads(rows.read_text())
    assert {(row["dataset"], row["method"], row["settings"]["eps_a"], row["repeat"]) for row in found} == {
        ("friends", "base", "8", 0)
    }
    capsys.readouterr()
    assert main("sweep", [*SMALL, "--dataset", "friends", "--eps-a", "8.0", "inf"]) == 0
    # More: one edge report, one search, one score.
    assert "3 points computed, " in capsys.readouterr().err


def test_a_chosen_axis_leaves_out_the_parts_and_the_searches_that_no_line_uses() -> None:
    request = SweepRequest(profile="paper", datasets=["cora"], methods=["base"], eps_a=["7"], repeats=2)
    chosen = request.study_request()
    profile = check_request(NODES, chosen).profile
    whole = read_request(SweepRequest(profile="paper")).paper
    grid = profile.node_classification
    assert (grid.eps_a, grid.methods, profile.repeats) == (["7"], ["base"], 2)
    assert grid.eps_x == whole.node_classification.eps_x
    assert len(grid.grids()) == 1
    assert grid.search_for("base") == whole.node_classification.search_for("base")
    assert read_request(SweepRequest(profile="paper").study_request()).paper == whole


def test_the_form_asks_for_the_study_first() -> None:
    asked = list(SweepRequest.model_json_schema()["properties"])
    assert (asked[0], asked[-3:]) == ("study", ["overrides", "export", "draw_again"])
    assert set(asked) == set(SweepRequest.model_fields)


def test_a_sweep_shows_what_its_study_found_on_its_own_run(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Outcome(NODES, [], {}, [], 1, 0)
    shown: list[Outcome] = []
    monkeypatch.setattr("flows.run.sweep_flow.run_in_prefect", lambda *_: Completed())
    monkeypatch.setattr("flows.run.sweep_flow.outcome_of", lambda _: found)
    monkeypatch.setattr("flows.run.sweep_flow.show_outcome", shown.append)
    assert sweep.fn(SweepRequest()).is_completed()
    assert shown == [found]


def test_what_a_study_does_not_have_is_refused() -> None:
    with pytest.raises(UserError, match="graph_classification has no eps_x; choose from methods, backbones, eps"):
        SweepRequest(study="graph_classification", eps_x=["1"]).study_request()
    with pytest.raises(UserError, match=r"eps_a\.0: epsilon: -7 is negative"):
        check_request(NODES, SweepRequest(eps_a=["-7"]).study_request())


@pytest.mark.parametrize(
    ("request_", "section", "axis", "values"),
    [
        (SweepRequest(study="graph_classification", eps=["1/n"]), "graph_classification", "eps", ["1/n"]),
        (SweepRequest(study="node_embedding", eps=["2"]), "node_embedding", "eps_encoder", ["2"]),
        (SweepRequest(study="node_embedding", methods=["walk"]), "node_embedding", "modes", ["walk"]),
        (SweepRequest(study="ego_clustering", eps=["1/n"]), "ego_clustering", "eps", ["1/n"]),
    ],
)
def test_every_study_has_its_axes(request_: SweepRequest, section: str, axis: str, values: list[str]) -> None:
    profile = check_request(section, request_.study_request()).profile
    assert getattr(getattr(profile, section), axis) == values


def test_a_chosen_axis_of_walks_leaves_the_parts_out() -> None:
    whole = check_request("node_embedding", SweepRequest(profile="paper", study="node_embedding").study_request())
    chosen = SweepRequest(profile="paper", study="node_embedding", methods=["walk"]).study_request()
    assert whole.profile.node_embedding.parts
    assert not check_request("node_embedding", chosen).profile.node_embedding.parts


def test_a_study_and_a_scheduler_may_be_named_on_the_command_line(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = ["--runner", "dask", "--dask-address", "nonsense"]
    assert main("sweep", ["--plain", "--study", "ego_clustering", "--dataset", "digits", *dead]) == 2
    assert "dask_address nonsense does not answer" in capsys.readouterr().err


def test_mistakes_on_the_command_line_are_one_line(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main("sweep", ["--plain", "--study", "node_embedding", "--backbones", "gcn"]) == 2
    assert capsys.readouterr().err == "error: node_embedding has no backbones; choose from methods, eps\n"
    assert main("sweep", ["--plain", "--profile", "test"]) == 2
    assert capsys.readouterr().err == "error: profile 'test' is unknown; use one of demo, paper\n"


def test_the_form_has_every_field_with_a_description_and_a_default() -> None:
    schema = sweep.parameters.model_dump()
    assert schema["required"] == []
    form = schema["definitions"]["SweepRequest"]
    assert form["additionalProperties"] is False
    for field in form["properties"].values():
        assert field["description"]
        assert "default" in field
    assert {axis for study in STUDIES for axis in study.axes} == set(AXES) < set(form["properties"])


def test_the_deployments_are_of_the_sweep_and_ask_for_what_it_has() -> None:
    deployments = yaml.safe_load((PACKAGE_ROOT / "prefect.yaml").read_text())["deployments"]
    assert [deployment["name"] for deployment in deployments] == ["nightly", "gpu", "paper", "ego-graphs"]
    for deployment in deployments:
        assert deployment["entrypoint"] == "flows.run.sweep_flow.sweep"
        request = SweepRequest.model_validate(deployment["parameters"]["request"])
        check_request(request.study, request.study_request())
        assert all(schedule["active"] is False for schedule in deployment.get("schedules", []))
