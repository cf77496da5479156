"""Whether this machine's demo is the committed one: ``python -m flows.verify``, and the last line of ``make run``.

``data/expected/demo.json`` holds the digest of every point of the demo, in the order of their computation, and its
metrics. Status 0: equal, or metrics within ``TOLERANCE``; 1: not reproduced; 2: nothing to compare, whatever the
machine; 3: compared, but results may differ on this machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterable
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from flows.studies.registry import STUDIES
from flows.system.cpu_kernels import uncovered
from flows.system.environment import PACKAGE_ROOT
from flows.system.exit_status import exit_status
from tasks.errors import UserError
from tasks.point_folder import META, canonical_json, content_digest, file_sha256

PROFILE = "demo"
TOLERANCE = 0.01
"""Of shares, one point; of what is above one, such as a number of edges, one percent."""
REPRODUCED, NOT_REPRODUCED, NOT_COMPARABLE, NOT_COVERED = 0, 1, 2, 3
SCORES = "the scores"
CONTENT = re.compile(r'"([0-9a-f]{64})"')

Metrics = dict[str, float]


def demo(root: Path) -> dict[str, Any]:
    """The demo's parameters, points and metrics as they lie below ``root``/data.

    Raises:
        UserError: when there are none, or a file of theirs is damaged.
    """
    section, results = _section(root), root / "data/results" / PROFILE
    # Others lie there, too, where somebody exported more than the demo has.
    datasets = {
        study.name: section[study.name]["datasets"] for study in STUDIES if study.in_demo and study.name in section
    }
    parts = [f"{study}/{name}" for study, names in datasets.items() for name in names]
    metrics = _metrics([results / part for part in parts])
    points = _points(
        [root / "data/raw" / PROFILE / name for name in set().union(*datasets.values())]
        + [root / "data" / kind / PROFILE / part for kind in ("noisy", "results") for part in parts]
    )
    if not metrics or not points:
        raise UserError(f"no results of the {PROFILE} below {root / 'data'}; run `make run` first")
    return {
        "parameters": hashlib.sha256(canonical_json(section).encode()).hexdigest(),
        "points": points,
        "metrics": metrics,
    }


def verdict(expected: dict[str, Any], found: dict[str, Any], uncovered: str) -> tuple[int, str]:
    """Status and line. Args: two results of ``demo``, and why this machine is not covered (empty where it is)."""
    if found["parameters"] != expected["parameters"]:
        return NOT_COMPARABLE, f"nothing to compare: the {PROFILE} section of params.yaml is not the committed one"
    points, metrics = found["points"], found["metrics"]
    differing = (label for label, contents in expected["points"].items() if points.get(label) != contents)
    first = next(differing, "")
    worst, distance = _farthest(expected["metrics"], metrics)
    if not first and not distance:
        count = sum(map(len, points.values()))
        status, line = REPRODUCED, f"equal: all {count} points and {len(metrics)} metrics are the committed ones"
    elif distance <= TOLERANCE:
        status = REPRODUCED
        line = (
            f"equal within {TOLERANCE:g} (largest distance {distance:.2g}); first step that differs: {first or SCORES}"
        )
    else:
        status = NOT_REPRODUCED
        line = f"not reproduced; first step that differs: {first or SCORES}; {worst} is {distance:.2g} away"
    return (NOT_COVERED, f"{line}. Not covered: {uncovered}") if uncovered else (status, line)


def _farthest(expected: Metrics, found: Metrics) -> tuple[str, float]:
    """The metric that is farthest from its expected value, relative where that is above one."""
    if set(expected) != set(found):
        return min(set(expected) ^ set(found)), float("inf")
    distances = {name: abs(found[name] - value) / max(1.0, abs(value)) for name, value in expected.items()}
    worst = max(distances, key=distances.__getitem__)
    return worst, distances[worst]


def _points(folders: Iterable[Path]) -> dict[str, list[str]]:
    """Contents of the exported points by label, a label after those that its points were made from.

    Points that differ in what they were made from alone, such as walks on two trees, share a label.
    """
    contents: dict[str, list[str]] = {}
    named: dict[str, set[str]] = {}
    for path in sorted(path for folder in folders for path in folder.rglob(META)):
        meta = _read(path)
        contents.setdefault(meta["label"], []).append(content_digest(_hashed(path.parent, meta["files"])))
        named.setdefault(meta["label"], set()).update(CONTENT.findall(canonical_json(meta["key"])))
    label_of = {content: label for label, found in contents.items() for content in found}
    order = TopologicalSorter({label: [label_of[i] for i in named[label] & label_of.keys()] for label in contents})
    order.prepare()
    points: dict[str, list[str]] = {}
    while order.is_active():
        ready = sorted(order.get_ready())
        points |= {label: sorted(contents[label]) for label in ready}
        order.done(*ready)
    return points


def _hashed(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Digests of a point's files as they are now; a missing one has none."""
    return {name: file_sha256(folder / name) if (folder / name).is_file() else "" for name in names}


def _metrics(folders: Iterable[Path]) -> Metrics:
    return {
        f"{path.parent.parent.name} {path.parent.name} {row} {metric}": value
        for path in sorted(folder / "metrics.json" for folder in folders)
        if path.is_file()
        for row, values in _read(path).items()
        for metric, value in values.items()
    }


def _section(root: Path) -> dict[str, Any]:
    import yaml

    try:
        return dict(yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))[PROFILE])
    except OSError as error:
        raise UserError(f"{root / 'params.yaml'}: {error.strerror}; restore it from the repository") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; restore it from the repository") from None
    except (ValueError, TypeError):
        raise UserError(f"{path}: damaged; run `make run` again") from None


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m flows.verify", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--update", action="store_true", help="make this run the expected one, to be committed")
    update = parser.parse_args().update
    expectation = PACKAGE_ROOT / "data/expected" / f"{PROFILE}.json"

    def work() -> int:
        reason = uncovered()
        if update and reason:
            raise UserError(f"what is expected comes from a machine that is covered: {reason}")
        found = demo(PACKAGE_ROOT)
        if update:
            expectation.parent.mkdir(exist_ok=True)
            expectation.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            return 0
        status, line = verdict(_read(expectation), found, reason)
        print(line)
        return status

    return exit_status(work)


if __name__ == "__main__":
    raise SystemExit(main())
