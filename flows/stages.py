"""The stages of DVC, from the studies' declarations: ``python -m flows.stages`` writes dvc.yaml and paper/dvc.yaml.

Points are not stages: the store caches them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import yaml

from flows.context.declaration import StudyDeclaration
from flows.studies.registry import STUDIES
from flows.system.environment import PACKAGE_ROOT
from flows.system.exit_status import exit_status
from tasks.atomic_write import write_atomically

CODE = ["flows", "tasks"]
FILES = {
    "dvc.yaml": (
        "demo",
        "# The demo: `make run` or `dvc repro`. Written by python -m flows.stages, like paper/dvc.yaml.\n",
    ),
    "paper/dvc.yaml": ("paper", "# The paper's grids: `make paper` or `dvc repro paper/dvc.yaml`. See dvc.yaml.\n"),
}
Stage = dict[str, Any]


def pipeline(profile: str) -> dict[str, Any]:
    """What a dvc.yaml holds for a profile; the demo's is at the root, the others' one folder below."""
    studies = [study for study in STUDIES if study.in_demo or profile != "demo"]
    stages: dict[str, Stage] = {"download": _download(profile, studies)}
    for study in studies:
        if study.drawn_before:
            stages["perturb"] = _perturb(profile, study)
    stages |= {study.name: _study(profile, study) for study in studies}
    stages |= {"audit": _audit(profile), "report": _report(profile, studies)}
    if profile == "demo":
        return {"stages": stages}
    return {"vars": ["../params.yaml"], "stages": {name: {"wdir": ".."} | stage for name, stage in stages.items()}}


def _download(profile: str, studies: Sequence[StudyDeclaration]) -> Stage:
    return {
        "cmd": f"python -m flows.download --profile {profile} --export",
        "deps": CODE,
        "params": [f"{profile}.{study.name}.datasets" for study in studies],
        "outs": [_kept(f"data/raw/{profile}")],
    }


def _perturb(profile: str, study: StudyDeclaration) -> Stage:
    return {
        **_each_dataset(profile, study, "perturb"),
        "deps": [*CODE, f"data/raw/{profile}/${{item.dataset}}"],
        "params": [
            *(f"{profile}.{name}" for name in ("seed", "repeats")),
            *(f"{profile}.{study.name}.{name}" for name in study.drawn_before),
        ],
        "outs": [_kept(f"data/noisy/{profile}/{study.name}/${{item.dataset}}")],
    }


def _study(profile: str, study: StudyDeclaration) -> Stage:
    noisy = f"data/noisy/{profile}/{study.name}/${{item.dataset}}"
    results = f"data/results/{profile}/{study.name}/${{item.dataset}}"
    files = ("rows.json", "table.csv", *study.extra_files, "ledger.json", "ledger.md")
    return {
        **_each_dataset(profile, study, study.name),
        "deps": [*CODE, f"data/raw/{profile}/${{item.dataset}}", *([noisy] if study.drawn_before else [])],
        "params": [f"{profile}.{name}" for name in ("seed", "repeats", study.name)],
        "outs": [
            *([] if study.drawn_before else [_kept(noisy)]),
            _kept(f"{results}/points"),
            *(f"{results}/{name}" for name in files),
        ],
        "metrics": [{f"{results}/metrics.json": {"cache": False}}],
    }


def _audit(profile: str) -> Stage:
    files = [f"data/results/{profile}/audit.{form}" for form in ("json", "csv")]
    return {"cmd": f"python -m flows.audit --fast --json {files[0]} --csv {files[1]}", "deps": CODE, "outs": files}


def _report(profile: str, studies: Sequence[StudyDeclaration]) -> Stage:
    results = f"data/results/{profile}"
    read = [*(f"{results}/{study.name}" for study in studies), f"{results}/audit.json", f"data/raw/{profile}"]
    written = ("report.html", "figures", "table.csv", "summary.txt", "tables")
    drawn = ("accuracy.png", "frontier", *(study.figures for study in studies))
    return {
        "cmd": f"python -m flows.report --profile {profile}",
        "deps": [*CODE, *read, "data/reference", "data/measured"],
        "params": [profile],
        "outs": [f"{results}/report/{name}" for name in written],
        "plots": [f"{results}/report/{name}" for name in drawn],
    }


def _each_dataset(profile: str, study: StudyDeclaration, command: str) -> Stage:
    return {
        "matrix": {"dataset": f"${{{profile}.{study.name}.datasets}}"},
        "cmd": f"python -m flows.{command} --profile {profile} --dataset ${{item.dataset}} --export",
    }


def _kept(place: str) -> dict[str, dict[str, bool]]:
    """DVC empties an output before its stage runs, unless it is told to keep it."""
    return {place: {"persist": True}}


class _Dumper(yaml.SafeDumper):
    """Lists stand indented below their keys, and none is an alias of another."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """See ``yaml.emitter``."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        """Always."""
        return True


def text(file: str) -> str:
    """The content of ``dvc.yaml`` or ``paper/dvc.yaml``."""
    profile, comment = FILES[file]
    return comment + yaml.dump(pipeline(profile), Dumper=_Dumper, sort_keys=False, width=1000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write both files; the exit status."""
    argparse.ArgumentParser(
        prog="python -m flows.stages", description="write dvc.yaml and paper/dvc.yaml from the studies' declarations"
    ).parse_args(arguments)

    def work() -> None:
        for file in FILES:
            write_atomically(PACKAGE_ROOT / file, text(file))

    return exit_status(work)


if __name__ == "__main__":
    raise SystemExit(main())
