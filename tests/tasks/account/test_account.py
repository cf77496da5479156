"""The account of a private data set: what is charged stays charged, whatever happens next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.system.environment import PACKAGE_ROOT
from tasks.account.account import Account, account_line, account_rows
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError
from tasks.reports.ledgers.ledger_line import LedgerLine, local_privacy_line
from tasks.reports.ledgers.units import limits_of, spent_on_bits, spent_on_degree

ROW = {"dataset", "mechanism", "unit", "epsilon", "reports", "total", "limit", "first", "last"}


def declared(folder: Path, budget: str | None = None, name: str = "friends") -> UserDataset:
    (folder / "edges.csv").touch()
    limits = None if budget is None else tuple(limits_of(budget).items())
    return UserDataset(name, folder / "edges.csv", budget=limits)


def line(epsilon: str, kind: str = "edges", *, simulated: bool = False) -> LedgerLine:
    return local_privacy_line(
        mechanism=kind,
        dataset="friends",
        deployment_key=kind,
        report_key=f"{kind} {epsilon}",
        epsilon=epsilon,
        unit="neighbour list",
        claim="LDP",
        not_protected="the rest",
        simulated=simulated,
        spends=spent_on_bits(epsilon, 2) if kind == "edges" else spent_on_degree(epsilon),
    )


def enter(account: Account, epsilon: str, kind: str = "edges", **more: bool) -> None:
    account.charge(line(epsilon, kind, **more), report=f"{kind} {epsilon}", point=f"eps={epsilon}", code="0")


def test_charges_add_up_in_each_unit(tmp_path: Path) -> None:
    account = Account(declared(tmp_path))
    assert account.spent() == {}
    enter(account, "1")
    enter(account, "0.5", "degree")
    assert account.spent() == {"edge": "1.5", "replacement": "2", "relation": "3"}
    rows = account_rows(account)
    assert all(set(row) == ROW for row in rows)
    assert sum(Decimal(str(row["total"])) for row in rows if row["unit"] == "edge") == Decimal("1.5")
    assert {row["limit"] for row in rows} == {None}
    assert "nothing limits" in account_line(account)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.decimals("0.01", "2", places=2).map(lambda d: format(d.normalize(), "f")), max_size=12))
def test_the_total_never_passes_the_limit_and_is_what_was_accepted(
    tmp_path_factory: pytest.TempPathFactory, epsilons: list[str]
) -> None:
    account = Account(declared(tmp_path_factory.mktemp("account"), "3"))
    accepted = Decimal(0)
    for epsilon in epsilons:
        try:
            enter(account, epsilon)
        except UserError:
            assert accepted + Decimal(epsilon) > 3
        else:
            accepted += Decimal(epsilon)
        assert Decimal(account.spent().get("edge", "0")) == accepted <= 3


def test_without_noise_or_with_a_known_seed_no_limit_admits_it(tmp_path: Path) -> None:
    limited, free = Account(declared(tmp_path, "1000")), Account(declared(tmp_path))
    for refused in ({"epsilon": "inf"}, {"epsilon": "1", "simulated": True}):
        with pytest.raises(UserError):
            enter(limited, **refused)  # type: ignore[arg-type]
    assert limited.charges() == []
    enter(free, "1", simulated=True)
    assert free.spent()["edge"] == "inf"


def test_the_file_is_its_owners_and_one_for_every_name_and_link(tmp_path: Path) -> None:
    account = Account(declared(tmp_path))
    before = os.umask(0o022)
    try:
        enter(account, "1")
    finally:
        os.umask(before)
    assert account.path.stat().st_mode & 0o777 == 0o600
    assert account.folder.stat().st_mode & 0o777 == 0o700
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "edges.csv")
    assert Account(UserDataset("others", link)).spent() == account.spent()


def test_a_line_that_was_cut_off_is_passed_over_and_another_damage_stops(tmp_path: Path) -> None:
    account = Account(declared(tmp_path))
    enter(account, "1")
    whole = account.path.read_bytes()
    account.path.write_bytes(whole + whole[:40])
    assert len(account.charges()) == 1
    enter(account, "0.5")
    assert account.spent()["edge"] == "1.5"
    assert account.path.read_bytes().startswith(whole)
    for damaged in (b"\n", b"{}\n", whole[1:], b"\xff\xfe\n", whole.replace(b'"epsilon"', b'"eps"')):
        account.path.write_bytes(whole + damaged)
        with pytest.raises(UserError, match=r"account\.jsonl: line 2"):
            enter(account, "0.1")
        assert account.path.read_bytes() == whole + damaged


def test_where_nothing_can_be_written_nothing_is_drawn(tmp_path: Path) -> None:
    own = declared(tmp_path)
    own.account_folder.write_text("a file in its place")
    with pytest.raises(UserError, match="account"):
        enter(Account(own), "1")


# Arguments: file of edges, what to do, a number.
DRAWER = """
import os, signal, sys
from pathlib import Path
from tasks.account import archive
from tasks.account.account import Account
from tasks.datasets.user.declaration import UserDataset
from tests.tasks.account.test_account import line

own = UserDataset("friends", Path(sys.argv[1]), budget=(("edge", "30"),))

def draw(folder, charge):
    charge(line("1"))
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / "report").write_bytes(os.urandom(8))

for number in range(int(sys.argv[3])):
    try:
        print(archive.ReportArchive(own).report({"of": number}, draw, label=str(number), code="0").content)
    except archive.UserError as error:
        print(error, file=sys.stderr)
"""


def draw(edges: Path, how: str, reports: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", DRAWER, str(edges), how, str(reports)]
    return subprocess.Popen(command, cwd=PACKAGE_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_draw_that_is_killed_is_charged_and_not_drawn_again_by_itself(tmp_path: Path) -> None:
    own = declared(tmp_path)
    killed = draw(own.edges, "killed", 1)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert Account(own).spent()["edge"] == "1"
    out, err = draw(own.edges, "whole", 1).communicate()
    assert out == "" and "--draw-again" in err
    assert Account(own).spent()["edge"] == "1"


def test_two_runs_at_once_never_have_more_reports_than_charges(tmp_path: Path) -> None:
    own = declared(tmp_path)
    runs = [draw(own.edges, "whole", 40) for _ in range(2)]
    printed = [run.communicate() for run in runs]
    first, second = ([*out.split()] for out, _ in printed)
    charges = Account(own).charges()
    assert Counter(charge.report for charge in charges).most_common(1)[0][1] == 1
    assert len(charges) == 30
    assert set(first) == set(second) and len(set(first)) == 30  # the same reports, none beyond the limit
    assert all("lifetime budget" in err for _, err in printed)
