"""Small sound inputs of every kind, which the fuzz run damages."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.io import savemat
from scipy.sparse import csr_array, save_npz

Files = dict[str, bytes]
RING = np.roll(np.eye(6, dtype=np.int8), 1, axis=1)
ADJACENCY = csr_array(RING | RING.T)
PAIRS = np.argwhere(RING)


def planetoid() -> Files:
    """Cora's six files for six nodes, as Python 2 wrote them."""
    names = {"ally": np.eye(2, dtype=np.int32)[[0, 1, 0, 1]], "ty": np.eye(2, dtype=np.int32)}
    files = {part: b"\x80\x02" + _pickled(array) + b"." for part, array in names.items()}
    tables = {"allx": csr_array(np.eye(4, 3, dtype=np.float32)), "tx": csr_array(np.ones((2, 3), dtype=np.float32))}
    files |= {part: b"\x80\x02" + _pickled_csr(table) + b"." for part, table in tables.items()}
    lists = b"".join(b"I%d\n(lI%d\naI%d\nas" % (node, (node + 1) % 6, (node - 1) % 6) for node in range(6))
    files["graph"] = b"ccollections\ndefaultdict\n(c__builtin__\nlist\ntR" + lists + b"."
    files["test.index"] = b"5\n4\n"
    return {f"ind.cora.{part}": content for part, content in files.items()}


def _pickled(array: NDArray) -> bytes:
    kind, raw = array.dtype.str[1:].encode(), array.tobytes()
    shape = b"".join(b"K" + bytes([side]) for side in array.shape)
    dtype = (
        b"cnumpy\ndtype\n(U"
        + bytes([len(kind)])
        + kind
        + b"K\x00K\x01tR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    )
    start = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
    return start + b"(K\x01(" + shape + b"t" + dtype + b"\x89T" + len(raw).to_bytes(4, "little") + raw + b"tb"


def _pickled_csr(table: csr_array) -> bytes:
    parts = [("indptr", table.indptr.astype("i4")), ("indices", table.indices.astype("i4")), ("data", table.data)]
    state = b"".join(b"U" + bytes([len(name)]) + name.encode() + _pickled(array) for name, array in parts)
    shape = b"U\x06_shape(K" + bytes([table.shape[0]]) + b"K" + bytes([table.shape[1]]) + b"t"
    return b"cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + state + shape + b"ub"


def nettack() -> Files:
    """CiteSeer's npz for six nodes."""
    arrays: dict[str, NDArray] = {"labels": np.array([0, 1, 0, 1, 2, 2])}
    for prefix, table in (("adj", ADJACENCY.astype(np.float32)), ("attr", csr_array(np.eye(6, 4, dtype=np.float32)))):
        arrays |= {f"{prefix}_{part}": getattr(table, part) for part in ("data", "indices", "indptr")}
        arrays[f"{prefix}_shape"] = np.array(table.shape)
    return {"citeseer.npz": npz(**arrays)}


def tu_archive() -> Files:
    """PROTEINS for two graphs of three nodes."""
    tables = {"A": "1,2\n2,1\n4,5\n5,4\n", "graph_indicator": "1\n1\n1\n2\n2\n2\n", "graph_labels": "1\n2\n"}
    members = {
        f"PROTEINS/PROTEINS_{name}.txt": text for name, text in (tables | {"node_labels": "0\n1\n2\n0\n1\n2\n"}).items()
    }
    return {"PROTEINS.zip": archive(members)}


def matlab() -> Files:
    """PPI's MATLAB file for six nodes."""
    buffer = io.BytesIO()
    content = {"network": ADJACENCY.astype(float).tocsc(), "group": csr_array(np.eye(6, 3)).tocsc()}
    savemat(buffer, content, do_compression=False)
    return {"Homo_sapiens.mat": buffer.getvalue()}


def facebook() -> Files:
    """Facebook's three files for six pages."""
    edges = "id_1,id_2\n" + "".join(f"{head},{tail}\n" for head, tail in PAIRS)
    target = "id,facebook_id,page_name,page_type\n" + "".join(f"{n},{n},page é,{'ab'[n % 2]}\n" for n in range(6))
    features = json.dumps({str(node): [node, node + 1] for node in range(6)}, indent=0)
    return {
        "facebook_edges.csv": edges.encode(),
        "facebook_target.csv": target.encode(),
        "facebook_features.json": features.encode(),
    }


def lastfm() -> Files:
    """LastFM's three files for eighteen users; the features cannot have the published digest."""
    edges = "node_1,node_2\n" + "".join(f"{node},{node + 1}\n" for node in range(17))
    target = "id,target\n" + "".join(f"{node},{node}\n" for node in range(18))
    features = archive({"lasftm_asia/lastfm_asia_features.json": json.dumps({"0": [1]})})
    return {
        "lastfm_asia_edges.csv": edges.encode(),
        "lastfm_asia_target.csv": target.encode(),
        "lastfm_asia.zip": features,
    }


def digits() -> Files:
    """A dozen pictures."""
    return {
        "digits.npz": npz(pixels=np.arange(12 * 64, dtype=np.uint8).reshape(12, 64) % 17, labels=np.arange(12) % 10)
    }


def mutag() -> Files:
    """Two molecules."""
    return {
        "mutag.npz": npz(
            pairs=np.array([[1, 2], [2, 1], [4, 5]]),
            graph_of=np.array([1, 1, 1, 2, 2]),
            graph_labels=np.array([-1, 1]),
            node_labels=np.array([0, 1, 2, 0, 1]),
        )
    }


def own_graphs() -> list[Files]:
    """A user's files in every form: text and arrays, with and without a heading."""
    edges = "head,tail\n" + "".join(f"{head},{tail}\n" for head, tail in PAIRS)
    table = np.eye(6, 3)
    features = "\n".join(",".join(map(str, row)) for row in table) + "\n"
    labels = "node,class\n" + "".join(f"{node},{'café' if node % 2 else 7}\n" for node in range(6))
    numbers = np.array([0, 1, 0, 1, -1, 2])
    return [
        {"edges.csv": edges.encode()},
        {"edges.csv": edges.encode(), "features.csv": features.encode(), "labels.csv": labels.encode()},
        {
            "edges.tsv": edges.replace(",", "\t").encode(),
            "features.npy": npy(table),
            "labels.tsv": labels.replace(",", "\t").encode(),
        },
        {
            "edges.npz": npz(edges=PAIRS),
            "features.npz": npz(features=table.astype(np.float32)),
            "labels.npz": npz(labels=numbers),
        },
        {
            "edges.npz": npz(edges=PAIRS),
            "features.npz": written(lambda path: save_npz(path, csr_array(table)), "f.npz"),
        },
        {"edges.csv": b"0,0\n"},
        {"edges.csv": b"0,1\n1,0\n0,1\n1,1\n", "labels.csv": b"0,a\n1,a\n"},
    ]


def archive(members: dict[str, str]) -> bytes:
    """A zip archive of texts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, text in members.items():
            target.writestr(name, text)
    return buffer.getvalue()


def npz(**arrays: NDArray) -> bytes:
    """An npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def npy(array: NDArray) -> bytes:
    """An npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def written(write: Callable[[Path], object], name: str) -> bytes:
    """What ``write`` puts into a file."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def of_reports(reports: Sequence[object]) -> list[Files]:
    """The files of reports that have ``save(path)``."""
    return [{"report.npz": written(report.save, "report.npz")} for report in reports]  # type: ignore[attr-defined]
