"""Damage for files: blind to what they hold (bits, cuts, insertions) and aware of it (arrays, tables, archives)."""

from __future__ import annotations

import io
import stat
import warnings
import zipfile
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Files = Mapping[str, bytes]
Damage = Callable[[bytes, Generator], bytes]

TOKENS = (
    "",
    "-1",
    "0",
    "nan",
    "NaN",
    "-inf",
    "inf",
    "1e999",
    "1e-3",
    "0x10",
    "1_000",
    "٣",
    "1.5",
    "true",
    "null",
    "~",
    "é😀",
    "\x00",
    "99999999999999999999999",
    "9223372036854775807",
    "99999999",
    "'",
    '"',
    '"a',
    "a,b",
    "=1+1",
    "../../etc/passwd",
    "&a [*a]",
    "!!python/object/apply:os.system ['touch ran']",
    "[" * 3000,
    "{" * 100,
    "x" * 5000,
    "\ufeff",
    "\u2028",
    "1/n",
    "-0.0",
)
NAMES = ("../ran", "/tmp/ran", "..\\ran", "C:\\ran", "a/../../ran", "", "x" * 300, "é😀.txt", "ran\x00.txt")
HOSTILE_PICKLES = (
    b"cos\nsystem\n(S'touch ran'\ntR.",
    b"cposix\nsystem\n(S'touch ran'\ntR.",
    b'c__builtin__\neval\n(S\'open("ran","w")\'\ntR.',
    b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\ttouch ran\x85R.",
    b"cnumpy\nndarray\n((I1000000000000\ntS'f8'\ntR.",
    b"cnumpy\nndarray\n((I3\ntS'O'\ntR.",
    b"cnumpy\ndtype\n(S'O'\ntR.",
    b"\x80\x02" + b"(" * 100_000 + b".",
    b"\x80\x02" + b"]" * 50_000 + b"a" * 49_999 + b".",
    b"cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x05arrayK\x01ub.",
    b"}.",
    b"]q\x00h\x00a.",
    b"N.",
    b"I1\n.",
    b"ccollections\ndefaultdict\n(c__builtin__\nlist\ntRI0\nI5\ns.",
)
EXTREMES = (0, -1, 1, 2, 127, -128, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))


def damaged(files: Files, rng: Generator) -> dict[str, bytes]:
    """The files with one or two of them damaged, emptied or missing."""
    result = dict(files)
    for _ in range(int(rng.integers(1, 3))):
        name = str(rng.choice(sorted(files)))
        if rng.random() < 0.02:
            result.pop(name, None)
        elif name in result and len(result[name]) < 100_000:  # a bomb is left as it is
            result[name] = _any_damage(name, result[name], rng)
    return result


def _any_damage(name: str, content: bytes, rng: Generator) -> bytes:
    try:
        aware = _aware(name, content)
        return blind(content, rng) if aware is None or rng.random() < 0.3 else aware(content, rng)
    except Exception:  # damaged before: no longer of the kind that it was
        return blind(content, rng)


def _aware(name: str, content: bytes) -> Damage | None:
    if name.endswith(".npy"):
        return npy_damage
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            arrays = all(member.endswith(".npy") for member in archive.namelist())
        return npz_damage if arrays else zip_damage
    if name.startswith("ind.") and not name.endswith(".index"):
        return pickle_damage
    return None if name.endswith(".mat") else text_damage


def blind(content: bytes, rng: Generator) -> bytes:
    """Flips, a cut, an insertion, a repetition, or nothing left."""
    kind, size = rng.integers(6), len(content)
    place = int(rng.integers(size + 1))
    if kind == 0 or not size:
        return content[:place]
    if kind == 1:
        return content[:place] + rng.bytes(int(rng.integers(1, 64))) + content[place:]
    if kind == 2:
        return content[:place] + content[place + int(rng.integers(1, 64)) :]
    if kind == 3:
        return content + content
    changed = bytearray(content)
    for at in rng.integers(size, size=int(rng.integers(1, 9))):
        changed[at] = int(rng.integers(256))
    return bytes(changed)


def text_damage(content: bytes, rng: Generator) -> bytes:
    """Fields and lines exchanged for awkward ones; other encodings and line ends."""
    text = content.decode(errors="replace")
    lines = text.splitlines()
    for _ in range(int(rng.integers(1, 4))):
        kind, at = rng.integers(7), int(rng.integers(max(len(lines), 1)))
        token = TOKENS[rng.integers(len(TOKENS))]
        if not lines or kind == 0:
            lines.insert(at, token)
        elif kind == 1:
            lines.append(lines[at])
        elif kind == 2:
            del lines[at]
        elif kind == 3:
            lines = lines[:1]
        else:
            separator = next((s for s in (",", "\t", ":", " ") if s in lines[at]), ",")
            fields = lines[at].split(separator)
            fields[rng.integers(len(fields))] = token
            lines[at] = separator.join(fields)
    joined = ("\n", "\r\n", "\r", "\n\n")[rng.choice(4, p=[0.85, 0.05, 0.05, 0.05])].join(lines) + "\n"
    return joined.encode(
        ("utf-8", "utf-16", "utf-8-sig", "utf-7")[rng.choice(4, p=[0.85, 0.05, 0.05, 0.05])], "replace"
    )


def pickle_damage(content: bytes, rng: Generator) -> bytes:
    """A hostile pickle, or the sound one with another pickle's opcodes inside."""
    other = HOSTILE_PICKLES[rng.integers(len(HOSTILE_PICKLES))]
    place = int(rng.integers(len(content)))
    return other if rng.random() < 0.5 else content[:place] + other[:-1] + content[place:]


def array_damage(array: NDArray, rng: Generator) -> NDArray:
    """Another value, shape or dtype; texts (uint8 vectors) become other texts."""
    kind = rng.integers(9)
    if array.dtype == np.uint8 and array.ndim == 1 and kind < 6:
        changed = text_damage(array.tobytes(), rng) if kind < 3 else TOKENS[rng.integers(len(TOKENS))].encode()
        return np.frombuffer(changed, dtype=np.uint8)
    if kind == 0:
        return array[: int(rng.integers(len(array) + 1))] if array.ndim else array.reshape(1)
    if kind == 1:
        return np.concatenate([array, array]) if array.ndim else np.zeros(0, array.dtype)
    if kind == 2:
        return array.astype(rng.choice(["f8", "f4", "i8", "i4", "i1", "u8", "c16", "S3", "U2", "?", "M8[s]"]))
    if kind == 3:
        return array.reshape((-1, 1) if array.ndim == 1 else -1)
    if kind == 4:
        return np.zeros(tuple(rng.integers(0, 3, size=int(rng.integers(0, 4)))), array.dtype)
    if kind == 5 and array.ndim:
        return rng.permutation(array)
    changed = np.array(array)
    if not changed.size:
        return np.ones(3, array.dtype)
    if changed.dtype.kind in "iu":
        limits = np.iinfo(changed.dtype)
        changed.flat[rng.integers(changed.size)] = min(
            max(EXTREMES[rng.integers(len(EXTREMES))], limits.min), limits.max
        )
    elif changed.dtype.kind == "f":
        changed.flat[rng.integers(changed.size)] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 1e30, -0.0])
    return changed


def npy_damage(content: bytes, rng: Generator) -> bytes:
    """Another array, or a header that declares what is not there."""
    if rng.random() < 0.5:
        return _npy(array_damage(np.load(io.BytesIO(content), allow_pickle=False), rng))
    return _lying_header(content, rng)


def npz_damage(content: bytes, rng: Generator) -> bytes:
    """Arrays changed, missing, added, pickled, compressed, twice, or with lying headers."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice(sorted(members)))
    kind = rng.integers(10)
    if kind < 5:
        members[name] = _npy(array_damage(np.load(io.BytesIO(members[name]), allow_pickle=False), rng))
    elif kind == 5:
        members[name] = _lying_header(members[name], rng)
    elif kind == 6:
        del members[name]
    elif kind == 7:
        members[name] = HOSTILE_PICKLES[rng.integers(len(HOSTILE_PICKLES))]
    elif kind == 8:
        members[name] = (
            b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
        )
        members[name] += HOSTILE_PICKLES[0]
    else:
        return zip_damage(content, rng)
    return _zip(members)


def zip_damage(content: bytes, rng: Generator) -> bytes:
    """Members that escape, are links, come twice, are encrypted, lie about their size, or expand beyond measure."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name, kind = str(rng.choice(sorted(members))), rng.integers(8)
    if kind == 0:
        other = NAMES[rng.integers(len(NAMES))]
        return _zip({**members, other: b"ran"})
    if kind == 1:
        return _zip(members, links=(name,))
    if kind == 2:
        return _zip(members, twice=(name,))
    if kind == 3:
        return bomb(name)
    if kind == 4:
        return _zip({key: text_damage(value, rng) if key == name else value for key, value in members.items()})
    if kind == 5:
        return _zip({key: value for key, value in members.items() if key != name})
    if kind == 6:
        return _zip(members, compression=int(rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])))
    changed = bytearray(_zip(members))
    at = changed.rfind(b"PK\x01\x02") + int(rng.choice([8, 10, 20, 24, 28, 42]))  # flags, method, sizes, name, offset
    changed[at : at + 2] = rng.bytes(2)
    return bytes(changed)


@cache
def bomb(name: str) -> bytes:
    """An archive of half a megabyte that expands to 300."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w") as member,
    ):
        for _ in range(300):
            member.write(b"\x00" * 1_000_000)
    return buffer.getvalue()


def _zip(
    members: Files, *, links: tuple[str, ...] = (), twice: tuple[str, ...] = (), compression: int = zipfile.ZIP_STORED
) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            info.external_attr = (stat.S_IFLNK | 0o777) << 16 if name in links else 0
            for _ in range(1 + (name in twice)):
                archive.writestr(info, content)
    return buffer.getvalue()


def _npy(array: NDArray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _lying_header(content: bytes, rng: Generator) -> bytes:
    length = int.from_bytes(content[8:10], "little")
    lies = (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<i8', 'fortran_order': True, 'shape': (-1, 2), }",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (9223372036854775807, 9), }",
        "{'descr': 'O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1e3,), }",
        "{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,), }",
        "{" * 100,
        "(" * 100,
        "__import__('os').system('touch ran')",
        "{'descr': '<i8'}",
    )
    return (
        content[:10] + str(rng.choice(lies)).ljust(length - 1)[: length - 1].encode() + b"\n" + content[10 + length :]
    )
