from __future__ import annotations

import io
import traceback
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, save_npz

from tasks.datasets.user.declaration import UserDataset
from tasks.datasets.user.user_graph import load_user_graph
from tasks.errors import UserError

SECRET = "8675309"


def declare(folder: Path, edges: str | bytes = "0,1\n1,2\n", suffix: str = ".csv", **changes: object) -> UserDataset:
    path = folder / f"edges{suffix}"
    path.write_bytes(edges if isinstance(edges, bytes) else edges.encode())
    return replace(UserDataset("mine", path), **changes)


def put(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def refused(declared: UserDataset, rule: str) -> str:
    """The one line of the refusal; neither it nor anything it is chained to may quote the secret."""
    with pytest.raises(UserError, match=rule) as caught:
        load_user_graph(declared)
    error: BaseException | None = caught.value
    while error is not None:
        words = "".join(traceback.format_exception_only(error))
        assert SECRET not in words.replace(str(declared.edges.parent), "")  # pytest names folders after the case
        error = error.__context__
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    st.sampled_from([".csv", ".tsv", ".npz"]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_edge_list_becomes_the_simple_graph(
    pairs: list[tuple[int, int]], suffix: str, heading: bool, end: str
) -> None:
    with TemporaryDirectory() as folder:
        declared = declare(Path(folder), suffix=suffix, nodes=10, private=False)
        if suffix == ".npz":
            np.savez(declared.edges, edges=np.array(pairs, dtype=np.int32))
        else:
            comma = "," if suffix == ".csv" else "\t"
            lines = [f"source{comma}Ziel"] * heading + [f"{head}{comma}{tail}" for head, tail in pairs]
            declared.edges.write_bytes(end.join(lines).encode("utf-8-sig"))
        graph = load_user_graph(declared)
    reference = nx.Graph()
    reference.add_nodes_from(range(10))
    reference.add_edges_from(pairs)
    loops = sum(head == tail for head, tail in pairs)
    reference.remove_edges_from(list(nx.selfloop_edges(reference)))
    np.testing.assert_array_equal(graph.adjacency.toarray(), nx.to_numpy_array(reference, dtype=np.int8))
    repeated = len(pairs) - loops - reference.number_of_edges()
    assert graph.notes == (f"mine: {loops} self-loops and {repeated} repeated edges were dropped",)


@given(st.binary(max_size=60), st.sampled_from([".csv", ".tsv", ".npz"]))
@example(b"\xff\xfe0\x001\x00", ".csv")
@example(b"PK\x03\x04", ".npz")
@example(b"\x00,\x00\n", ".csv")
def test_any_bytes_are_a_graph_or_one_clear_line(content: bytes, suffix: str) -> None:
    with TemporaryDirectory() as folder:
        declared = declare(Path(folder), content, suffix, nodes=100)
        try:
            graph = load_user_graph(declared)
        except UserError:
            return
    assert graph.nodes == 100


def test_private_unless_said_otherwise(tmp_path: Path) -> None:
    graph = load_user_graph(declare(tmp_path, "0,1\n1,0\n2,2\n"))
    assert graph.private
    assert graph.nodes == 3
    assert graph.notes == ("mine: self-loops and repeated edges, if any, were dropped",)
    assert not load_user_graph(declare(tmp_path, private=False)).private


@pytest.mark.parametrize(
    ("edges", "rule"),
    [
        (f"0,1\n-{SECRET},2\n", "line 2 .*negative"),
        (f"0,1\n{SECRET}.5,2\n", "line 2 .*whole"),
        (f"0,1\n\n{SECRET}x,2\n", "line 3 .*whole"),
        (f"0,1\n{SECRET}" + "0" * 20 + ",2\n", "line 2 .*whole"),
        ("0,1\n\u0661,2\n", "line 2 .*whole"),
        (f"0,1\n1,2,{SECRET}\n", "line 2 .*columns"),
        (f"0;{SECRET}\n", "columns|empty"),
        (f"0,1\n1,{SECRET}\n", "number of nodes"),
        (f"0,1\nzoë,{SECRET}\n", "line 2 .*whole"),
        ("", "empty"),
        ("source,target\n", "empty"),
        ("\n \n", "empty"),
        (f"0,{SECRET}\n".encode("utf-16"), "UTF-8"),
        (b"0,1\n\xff" + SECRET.encode(), "UTF-8"),
    ],
)
def test_broken_edge_lists(tmp_path: Path, edges: str | bytes, rule: str) -> None:
    refused(declare(tmp_path, edges, nodes=3), rule)


@pytest.mark.parametrize(
    ("arrays", "rule"),
    [
        ({"edges": np.array([[0, -int(SECRET)]])}, "negative"),
        ({"edges": np.array([[0.0, 1.5]])}, "whole"),
        ({"edges": np.array([0, 1, 2])}, "shape"),
        ({"edges": np.zeros((0, 2), dtype=int)}, "empty"),
        ({"edges": np.array([[0, int(SECRET)]])}, "number of nodes"),
        ({"edges": np.array([[0, SECRET]], dtype=object)}, r"edges\.npz"),
        ({"other": np.array([[0, 1]])}, "'edges'"),
        ({"edges": np.array([[0, 1]], dtype=np.uint64)}, "int64"),
    ],
)
def test_broken_edge_arrays(tmp_path: Path, arrays: dict[str, np.ndarray], rule: str) -> None:
    np.savez(tmp_path / "edges.npz", **arrays)
    refused(UserDataset("mine", tmp_path / "edges.npz", nodes=3), rule)


@pytest.mark.parametrize("nodes", [0, -1, 10**12])
def test_declared_node_count(tmp_path: Path, nodes: int) -> None:
    refused(declare(tmp_path, nodes=nodes), "nodes")


def test_a_mistyped_id_allocates_nothing(tmp_path: Path) -> None:
    refused(declare(tmp_path, f"0,1\n1,{SECRET}00000\n"), "gaps")


def test_missing_file_and_unknown_suffix(tmp_path: Path) -> None:
    refused(UserDataset("mine", tmp_path / "none.csv"), r"none\.csv")
    refused(declare(tmp_path, suffix=".xlsx"), r"\.csv, \.tsv or \.npz")


TABLE = np.array([[0.0, 0.25], [1.0, 0.0], [0.5, 0.125]])


def with_features(folder: Path, form: str) -> UserDataset:
    path = folder / f"features.{form.split()[0]}"
    match form:
        case "csv":
            put(folder, path.name, "height,weight\n0,.25\n1e0,0.\n+0.5,1.25E-1\n")
        case "npy":
            np.save(path, TABLE)
        case "npz":
            np.savez(path, features=TABLE)
        case "npz sparse":
            save_npz(path, csr_array(TABLE))
    return declare(folder, features=path, feature_bounds=(0.0, 1.0))


@pytest.mark.parametrize("form", ["csv", "npy", "npz", "npz sparse"])
def test_features_in_every_form(tmp_path: Path, form: str) -> None:
    graph = load_user_graph(with_features(tmp_path, form))
    np.testing.assert_array_equal(graph.features.toarray(), TABLE.astype(np.float32))
    assert graph.feature_bounds == (0.0, 1.0)


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (f"0\nnan\n{SECRET}\n", "line 2 .*finite"),
        (f"0\n1\n-inf,{SECRET}\n", "line 3 .*finite"),
        (f"0\n1\n{SECRET}e999\n", "NaN"),
        (f"0\n1\n{SECRET}\n", r"\[0, 1\]"),
        ("0\n1\n1.0000000001\n", r"\[0, 1\]"),
        (f"0\n1\n-{SECRET}\n", r"\[0, 1\]"),
        (f"0\n1\nx{SECRET}\n", "line 3 .*numbers"),
        ("0\n1\n", "number of nodes|every node"),
        ("0\n1,1\n1\n", "length"),
        ("", "empty"),
    ],
)
def test_broken_features(tmp_path: Path, rows: str, rule: str) -> None:
    features = put(tmp_path, "features.csv", rows)
    refused(declare(tmp_path, features=features, feature_bounds=(0.0, 1.0)), rule)


@pytest.mark.parametrize("value", [np.nan, np.inf, float(SECRET)])
def test_broken_feature_arrays(tmp_path: Path, value: float) -> None:
    table = TABLE.copy()
    table[1, 1] = value
    np.save(tmp_path / "features.npy", table)
    refused(declare(tmp_path, features=tmp_path / "features.npy", feature_bounds=(0.0, 1.0)), "mine|bounds")


def test_features_of_another_kind(tmp_path: Path) -> None:
    bounds = (0.0, 1.0)
    save_npz(tmp_path / "csc.npz", csc_array(TABLE))
    refused(declare(tmp_path, features=tmp_path / "csc.npz", feature_bounds=bounds), "CSR")
    np.savez(tmp_path / "bad.npz", data=np.ones(1), indices=np.array([9]), indptr=np.array([0, 1]), shape=(1, 2))
    refused(declare(tmp_path, features=tmp_path / "bad.npz", feature_bounds=bounds), "CSR")
    np.savez(tmp_path / "other.npz", table=TABLE)
    refused(declare(tmp_path, features=tmp_path / "other.npz", feature_bounds=bounds), "'features'")
    np.save(tmp_path / "words.npy", np.array([[SECRET]], dtype=object), allow_pickle=True)
    refused(declare(tmp_path, features=tmp_path / "words.npy", feature_bounds=bounds), r"words\.npy")
    np.save(tmp_path / "line.npy", TABLE[0])
    refused(declare(tmp_path, features=tmp_path / "line.npy", feature_bounds=bounds), r"line\.npy")


def test_bounds_are_declared_never_read(tmp_path: Path) -> None:
    declared = with_features(tmp_path, "npy")
    refused(replace(declared, feature_bounds=None), "feature_bounds")
    refused(replace(declared, feature_bounds=(0.5, 1.0)), r"\[0\.5, 1\]")
    assert load_user_graph(replace(declared, feature_bounds=(-3.0, 9.0))).feature_bounds == (-3.0, 9.0)


def test_isolated_nodes_count_when_features_list_them(tmp_path: Path) -> None:
    graph = load_user_graph(replace(with_features(tmp_path, "npy"), edges=declare(tmp_path, "0,1\n").edges))
    assert (graph.nodes, graph.edges) == (3, 1)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("node,class\n0,rot\n2,größer\n1,blau\n", [2, 0, 1]),
        ("2,10\n0,9\n1,-1\n", [0, -1, 1]),
        ("0,5\n1,\n", [0, -1, -1]),
        ('0,"a, b"\n1,c\n2,c\n', [0, 1, 1]),
        ("0,1\n1,01\n2,x\n", [1, 0, 2]),
    ],
)
def test_labels(tmp_path: Path, rows: str, expected: list[int]) -> None:
    graph = load_user_graph(declare(tmp_path, labels=put(tmp_path, "labels.csv", rows)))
    np.testing.assert_array_equal(graph.labels, expected)


def test_label_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "labels.npz", labels=np.array([3, -1, 7]))
    graph = load_user_graph(declare(tmp_path, labels=tmp_path / "labels.npz"))
    np.testing.assert_array_equal(graph.labels, [0, -1, 1])


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (f"0,a\n0,{SECRET}\n", "two rows"),
        (f"{SECRET},a\n", "number of nodes"),
        (f"0,a\n1,b,{SECRET}\n", "line 2 .*columns"),
        (f"0,a\n{SECRET}.5,b\n", "line 2 .*node ids"),
        ("", "empty"),
    ],
)
def test_broken_labels(tmp_path: Path, rows: str, rule: str) -> None:
    refused(declare(tmp_path, labels=put(tmp_path, "labels.csv", rows)), rule)


def test_an_id_far_above_the_number_of_edges_needs_a_declared_count(tmp_path: Path) -> None:
    refused(declare(tmp_path, "0,1\n1,30000000\n"), "number of edges")
    assert load_user_graph(declare(tmp_path, "0,1\n1,3000\n")).nodes == 3001
    assert load_user_graph(declare(tmp_path, "0,1\n1,2000000\n", nodes=2_000_001)).nodes == 2_000_001


@pytest.mark.parametrize("damage", ["no array", "header", "pickle", "expands"])
def test_hostile_archives_are_one_line(tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    member = {
        "no array": b"text",
        "header": b"\x93NUMPY\x01\x00v\x00" + b"{" * 118,
        "pickle": b"cos\nsystem\n(S'x'\ntR.",
    }
    if damage == "expands":
        monkeypatch.setattr("tasks.datasets.user.user_files.EXPANDED_LIMIT", 1000)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.writestr("edges.npy", member.get(damage, b"\x00" * 5000))
    refused(declare(tmp_path, buffer.getvalue(), ".npz"), r"edges\.npz")
