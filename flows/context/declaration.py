"""What a study is to everything around it: declared once, in the study's own folder, and listed in the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.parameters.profiles import Profile
from tasks.parameters.values import Section
from tasks.reports.ledgers.units import Spent

if TYPE_CHECKING:
    import pandas as pd
    from prefect import Flow

    from flows.context.coverage import ExpectedLine

Costs = Iterable[tuple[str, Mapping[str, Spent]]]
"""For each deployment a title, and what each kind of report in it spends, by unit of protection."""


@dataclass(frozen=True)
class StudyOutputs:
    """What a study makes of its table; imported when there is something to draw, for it brings matplotlib.

    Attributes:
        published: what the paper printed, in the form in which ours stands beside it (``reference.beside``).
        draw: draws the figures that the lines suffice for. Arguments are the compared lines, a folder for PNG files,
            one for PDF and SVG files or None, and the files of rows that the lines are from. Returns the PNG files.
        write_tables: writes the study's own tables as CSV into a folder.
    """

    published: Callable[[], pd.DataFrame]
    draw: Callable[[pd.DataFrame, Path, Path | None, Sequence[Path]], list[Path]]
    write_tables: Callable[[pd.DataFrame, Path], object] = lambda compared, folder: None


@dataclass(frozen=True)
class StudyDeclaration:
    """A study or a stage before the studies.

    Attributes:
        name: of its section in a profile, of its command, and of its folders below data/.
        flow: imports the Prefect flow, and with it the libraries that the study needs.
        grid: the model of its section; None for a stage.
        stage_of: the studies that a stage is before; empty for a study.
        axes: what an axis of a sweep is called in its section.
        mechanisms: modules whose noise the study is about; their version is a tag in MLflow.
        costs: what a user pays in each deployment on these data sets.
        expected: the lines that its table must have; None for a stage. Those that are there are the last argument.
        outputs: imports its tables and figures; None for a stage.
        figures: folder of its figures below the report.
        captions: of its figures, by the name of the file.
        tables: titles of its own tables on the report's page, by the name of the file.
        headlines: the metrics that its summary shows, on the console and on the report's page, in this order; table.csv
            has all.
        controls: what a private method must be told apart from: by column and value, why a line is a control.
        point: the columns that tell its published points apart; ``name=`` prints the name, too.
        in_demo: whether the demo of DVC runs it.
        drawn_before: the parameters of its section that decide its reports, where these are a stage of their own.
        extra_files: what it lays beside its rows.
    """

    name: str
    flow: Callable[[], Flow[..., Any]]
    grid: type[Section] | None = None
    stage_of: tuple[str, ...] = ()
    axes: Mapping[str, str] = field(default_factory=dict)
    mechanisms: tuple[str, ...] = ()
    costs: Callable[[Profile, Sequence[str]], Costs] = lambda profile, datasets: ()
    expected: Callable[[Profile, Sequence[str], set[ExpectedLine]], set[ExpectedLine]] | None = None
    outputs: Callable[[], StudyOutputs] | None = None
    figures: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    headlines: tuple[str, ...] = ()
    controls: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    point: tuple[str, ...] = ()
    in_demo: bool = False
    drawn_before: tuple[str, ...] = ()
    extra_files: tuple[str, ...] = ()

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections of a profile whose data sets it is for."""
        return self.stage_of or (self.name,)

    @property
    def title(self) -> str:
        """Its name in words."""
        return self.name.replace("_", " ")

    def budget(self, profile: Profile) -> str:
        """The budget that its section declares for a user."""
        return str(getattr(profile, self.sections[0]).budget)


def printed_settings(columns: Iterable[str], settings: Mapping[Any, Any]) -> list[str]:
    """``value``, or ``name=value`` for a column that ends with ``=``; settings that a line lacks are left out."""
    shown = [(column.rstrip("="), column.endswith("=")) for column in columns]
    return [f"{name}={settings[name]}" if named else settings[name] for name, named in shown if settings.get(name)]
