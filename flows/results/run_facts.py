"""What the report says of a run itself: parameters, seeds, data, packages, and runs kept with the code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from flows.results.provenance import versions
from tasks.errors import UserError
from tasks.evaluation.report_page.blocks import Block, Section, Words, plain_table
from tasks.parameters.profiles import Profile
from tasks.point_folder import META

_SEEDED = (
    "The seed {seed} decides everything that is random: splits, the users' noise, initial weights. Noise that derives "
    "from a seed can be drawn again by anybody who knows it: this is a simulation, and protects nobody. Every repeat "
    "has a split, noise and initial weights of its own."
)
_UNSEEDED = (
    "There is no seed (null): the users' noise came from the operating system's entropy, and nobody kept it. Another "
    "run gives other figures. What the curator draws has a public seed. Every repeat has a split, noise and initial "
    "weights of its own."
)


def run_section(name: str, profile: Profile, datasets: dict[str, list[str]]) -> Section:
    """Profile, repeats, data sets, what the seed means, and all parameters with their defaults."""
    rows = [(study.replace("_", " "), ", ".join(found)) for study, found in datasets.items()]
    decisive = profile.model_dump(mode="json", exclude={"runner", "workers", "dask_address"}, exclude_none=True)
    blocks: list[Block] = [
        Words(
            f"Profile {name} of params.yaml, {profile.repeats} repeats. A run that was given other values (--set, "
            "a sweep) has lines with budgets and repeats of their own below."
        ),
        Words(_UNSEEDED if profile.seed is None else _SEEDED.format(seed=profile.seed)),
        plain_table("studies", "Studies and the data sets that there are results for", ("study", "data sets"), rows),
        Words("Parameters, defaults included (budgets are eps; inf is no noise)", "heading"),
        Words(_yaml(decisive), "code"),
    ]
    return Section("run", "What was run", tuple(blocks))


def provenance_section(raw: Path, measured: Path) -> Section:
    """Digests of public data, versions of packages, and the records of runs kept below ``measured``."""
    digests = list(_digests(raw))
    blocks: list[Block] = [
        Words(
            "Data: SHA-256 of the files that were read. Private data sets are never laid below data/ and have no line."
            if digests
            else "Data: no raw files of this profile are below data/raw."
        )
    ]
    if digests:
        blocks.append(plain_table("data", "Public data sets", ("data set", "file", "SHA-256"), digests))
    packages = list(versions().items())
    blocks.append(
        plain_table("versions", "Packages installed when the report was written", ("package", "version"), packages)
    )
    for path in sorted(measured.glob("*/provenance.json")):
        blocks += [Words(f"Measured and kept with the code: {path.parent.name}", "heading"), *record_blocks(path)]
    return Section("provenance", "Data, versions and provenance", tuple(blocks))


def record_blocks(path: Path) -> list[Block]:
    """A record of where figures came from: short facts as a table, nested ones as YAML.

    Raises:
        UserError: when the file is no JSON object.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise UserError(f"{path}: no record of a run; restore the file from the repository")
    nested = {key: value for key, value in record.items() if isinstance(value, (dict, list)) and value}
    rows = [(key, _word(value)) for key, value in record.items() if key not in nested]
    name = f"record-{path.parent.name}-{path.stem}"
    blocks: list[Block] = [plain_table(name, "Record of the run", ("what", "value"), rows)]
    return [*blocks, Words(_yaml(nested), "code")] if nested else blocks


def _yaml(content: dict[str, Any]) -> str:
    """YAML with a line for each list."""
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100).rstrip()


def _word(value: Any) -> str:
    return "not recorded" if value is None or value in ([], {}) else str(value)


def _digests(raw: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted(raw.glob(f"*/*/{META}")):
        try:
            files = dict(json.loads(path.read_text(encoding="utf-8"))["files"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise UserError(f"{path}: damaged; run the download stage again") from None
        yield from ((path.parent.parent.name, name, str(digest)) for name, digest in sorted(files.items()))
