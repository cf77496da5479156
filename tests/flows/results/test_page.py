from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import ttest_ind_from_stats

from flows.report import main
from flows.results.privacy import account_section, attack_section, audit_section, whole_ledger
from flows.results.run_facts import provenance_section
from flows.system.environment import PACKAGE_ROOT
from tasks.account.account import Account
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError
from tasks.evaluation.audits.table import COLUMNS as AUDIT_COLUMNS
from tasks.evaluation.report_page.blocks import Section
from tasks.evaluation.report_page.page import page as report_html
from tasks.evaluation.tables.rows import Row, write_rows
from tasks.reports.ledgers.ledger_table import ledgers_json, ledgers_markdown
from tests.flows.conftest import edge_ledger, write_report

VOID = {"meta", "link", "img", "br", "hr", "input"}
HOSTILE = "<script>alert(\"1\")</script> & 'quoted'"
STUDY = "node_classification"


class Page(HTMLParser):
    """What a browser would see: balanced tags, attributes, text, tables."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.cells: dict[str, list[list[tuple[str, str]]]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        values = {name: value or "" for name, value in attrs}
        self.attributes += [(tag, name, value) for name, value in values.items()]
        self.ids += [values["id"]] if "id" in values else []
        if tag == "table":
            self.cells[values["id"]] = []
        elif tag == "tr":
            next(reversed(self.cells.values())).append([])
        elif tag in ("td", "th"):
            next(reversed(self.cells.values()))[-1].append((values.get("class", ""), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            row = next(reversed(self.cells.values()))[-1]
            row[-1] = (row[-1][0], row[-1][1] + data)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def rows(dataset: str) -> list[Row]:
    shared = {"mode": "directed", "label_rate": "0.5"}
    points = [
        (method, {**shared, "backbone": "gcn", "eps_x": eps_x, "eps_a": eps_a})
        for method, eps_x in (("base", "1"), ("solitude", "1"), ("constant-features", "none"))
        for eps_a in ("7", "7.5")
    ]
    points.append(("non-private", {**shared, "backbone": "gcn", "eps_x": "inf", "eps_a": "inf"}))
    return [
        Row(STUDY, dataset, method, settings, repeat, metric, value)
        for number, (method, settings) in enumerate(points)
        for repeat in range(3)
        for metric, value in (("accuracy", 0.5 + number / 12 + repeat / 100), ("search_points", 4))
    ]


def lay_out(folder: Path) -> Path:
    """A project's folder with two data sets' results; where they are."""
    shutil.copy(PACKAGE_ROOT / "params.yaml", folder / "params.yaml")
    results = folder / "data" / "results" / "demo"
    for dataset in ("cora", "digits"):
        place = results / STUDY / dataset
        write_rows(place / "rows.json", rows(dataset))
        found = edge_ledger(dataset, f"{HOSTILE} of {dataset}")
        (place / "ledger.md").write_text(ledgers_markdown({f"Mode {HOSTILE}": found}))
        (place / "ledger.json").write_text(ledgers_json({f"Mode {HOSTILE}": found}))
    point = folder / "data" / "raw" / "demo" / "digits" / "0123"
    point.mkdir(parents=True)
    (point / "meta.json").write_text(json.dumps({"files": {"digits/digits.npz": "ab" * 32}}))
    return results


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Results and their report, drawn once: the tests only read it."""
    folder = tmp_path_factory.mktemp("reported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("flows.context.project.WORKSPACE", folder)
        found = lay_out(folder)
        write_report("demo")
        yield found


@pytest.fixture(scope="module")
def page(results: Path) -> Page:
    return Page((results / "report" / "report.html").read_text())


def test_the_page_is_whole_and_loads_nothing(results: Path, page: Page) -> None:
    assert page.tags["script"] == page.tags["link"] == page.tags["iframe"] == 0
    assert page.tags["h1"] == 1
    assert len(page.ids) == len(set(page.ids))
    for tag, name, value in page.attributes:
        assert not name.startswith("on")
        if name == "src":
            assert (tag, value.split(",")[0]) == ("img", "data:image/svg+xml;base64")
        if name == "href":
            assert value.removeprefix("#") in page.ids
    raw = (results / "report" / "report.html").read_text()
    assert "url(" not in raw
    assert "@import" not in raw
    assert "http://" not in raw
    assert "https://" not in raw


def test_every_figure_is_embedded_and_its_files_named(results: Path, page: Page) -> None:
    drawn = sorted(path.stem for path in (results / "report" / "figures").glob("*.svg"))
    assert {"accuracy", "figure-4", "frontier-cora-gcn", "frontier-digits-gcn"} <= set(drawn)
    assert page.tags["img"] == page.tags["figure"] == len(drawn)
    assert all(any(f"{name}.pdf" in text for text in page.texts) for name in drawn)


def test_every_sentence_of_the_ledger_is_there_and_escaped(results: Path, page: Page) -> None:
    raw = (results / "report" / "report.html").read_text()
    assert "<script" not in raw
    assert HOSTILE in unescape(raw)
    for dataset in ("cora", "digits"):
        for line in edge_ledger(dataset, f"{HOSTILE} of {dataset}").lines:
            for words in (line.statement, line.not_protected, line.unit, line.mechanism):
                assert words in page.text
    assert "0 of 4 reports carry a guarantee" in page.text


def test_colours_are_welchs_test(results: Path, page: Page) -> None:
    table = pd.read_csv(results / "report" / "table.csv", dtype=str, keep_default_na=False)
    known = table[(table["item"] != "") & (table["reference_sd"] != "")]
    _, *shown = page.cells["table-published"]
    assert len(shown) == (table["item"] != "").sum() == len(known) > 0
    marks = {(row[1][1], row[2][1]): row[6][0].removeprefix("short").strip() for row in shown}
    for line in known.to_dict("records"):
        ours, theirs = float(line["mean"]), float(line["reference_mean"])
        found = ttest_ind_from_stats(
            ours, float(line["sd"]), int(line["repeats"]), theirs, float(line["reference_sd"]), 5, equal_var=False
        )
        expected = "same" if found.pvalue >= 0.05 else "above" if ours > theirs else "below"
        assert marks[line["method"], f"backbone=gcn eps_a={line['eps_a']} eps_x=1"] == expected
    assert len(set(marks.values())) > 1
    assert "Welch" in page.text


def test_controls_are_marked(page: Page) -> None:
    header, *lines = page.cells["table-results-node-classification-digits"]
    method, control = (next(i for i, cell in enumerate(header) if cell[1] == name) for name in ("method", "control"))
    marked = {
        line[method][1]: (line[method][0].removeprefix("short").strip(), bool(line[control][1])) for line in lines
    }
    assert marked == {
        "base": ("control", True),
        "constant-features": ("control", True),
        "non-private": ("control", True),
        "solitude": ("", False),
    }


def test_the_run_is_described(page: Page) -> None:
    assert "ab" * 32 in page.text
    assert "The seed 0 decides" in page.text
    assert "learning_rate" in page.text
    assert ("short", "numpy") in [row[0] for row in page.cells["table-versions"]]
    searches = {row[1][1]: row[3][1] for row in page.cells["table-cost-searches"] if row[0][1] == "digits"}
    assert searches == {"base": "6", "solitude": "6", "constant-features": "6", "non-private": "3"}


def test_what_was_not_measured_has_no_section(page: Page) -> None:
    assert {"audit", "attacks"} & set(page.ids) == set()


def shown(*sections: Section) -> Page:
    return Page(report_html("title", [HOSTILE], sections))


def test_kept_measurements_audits_and_attacks_are_shown_where_there_are_any(tmp_path: Path) -> None:
    record = {"commit": HOSTILE, "minutes": 7.5, "date": "2001-02-03", "parameters": {"seed": 0}}
    (tmp_path / STUDY).mkdir()
    (tmp_path / STUDY / "provenance.json").write_text(json.dumps(record))
    audited = ["noise", 1.0, 0.9, 1000, 0.999, 0.9, 0.001, "eps=1", "one bit", ""]
    (tmp_path / "audit.json").write_text(json.dumps([dict(zip(AUDIT_COLUMNS, audited, strict=True))]))
    header = "study,dataset,method,attack,eps_a,metric,mean,sd,repeats,reading\n"
    attacks = [
        f"attacks,cora,base,{kind},{eps},{metric},0.7,0.1,3,{reading}\n"
        for eps in ("1", "inf")
        for kind, metric, reading in (("edges", "auc", "one list"), ("models", "accuracy", ""))
    ]
    (tmp_path / "attacks-cora.csv").write_text(header + "".join(attacks))
    found = attack_section(tmp_path, tmp_path / "figures")
    page = shown(provenance_section(tmp_path, tmp_path), *audit_section(tmp_path / "audit.json"), *found)
    for word in (HOSTILE, "7.5", "2001-02-03", "90.0% to 90.0%", "edge: one list"):
        assert word in page.text
    assert {"audit", "attacks", "provenance"} <= set(page.ids)
    assert page.tags["img"] == 1
    assert page.tags["script"] == 0


def test_accounts_are_shown_where_there_are_charges(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").touch()
    account = Account(UserDataset("friends", tmp_path / "edges.csv", budget=(("graph", "2"),)))
    assert account_section([account]) == []
    account.charge(edge_ledger("friends").lines[0], report="r", point="eps=7", code="0")
    page = shown(*account_section([account]))
    assert "accounts" in page.ids
    for word in ("friends", "relation", "14"):
        assert word in page.text


@pytest.mark.parametrize(
    ("damaged", "section", "message"),
    [
        (
            "digits/0123/meta.json",
            lambda place: provenance_section(place, place),
            "damaged; run the download stage again",
        ),
        ("audit.json", lambda place: audit_section(place / "audit.json"), "no audit"),
        ("study/provenance.json", lambda place: provenance_section(place, place), "no record of a run"),
        ("attacks-cora.csv", lambda place: attack_section(place, place / "figures"), "is missing; run"),
        ("cora/ledger.json", lambda place: whole_ledger([place / "cora"]), "not readable as JSON"),
    ],
)
def test_a_damaged_input_is_one_line(
    tmp_path: Path, damaged: str, section: Callable[[Path], object], message: str
) -> None:
    (tmp_path / damaged).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / damaged).write_text("{")
    with pytest.raises(UserError, match=message):
        section(tmp_path)


def test_a_missing_ledger_is_one_line_and_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("flows.context.project.WORKSPACE", tmp_path)
    results = lay_out(tmp_path)
    (results / STUDY / "cora" / "ledger.json").unlink()
    assert main([]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert line.endswith("cora/ledger.json: cannot be read; run the study again")
    assert not (results / "report" / "report.html").exists()
