"""A request resolved against params.yaml, and checked before anything starts: light modules alone are imported here."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from flows.context.declaration import StudyDeclaration
from flows.context.project import workspace
from flows.context.request import ResolvedRequest, StudyRequest
from flows.studies.registry import STUDIES, declared
from tasks.datasets.catalogue.public import kind_of, require_kind
from tasks.datasets.user.declaration import UserDataset, check_declaration
from tasks.errors import UserError
from tasks.parameters.loading import load_parameters
from tasks.parameters.profiles import Parameters, Profile
from tasks.reports.ledgers.budget import require_within
from tasks.reports.ledgers.units import beyond, limits_of, total

PARAMETERS = "params.yaml"


def check_request(name: str, request: StudyRequest, log: Callable[[str], object] = lambda _: None) -> ResolvedRequest:
    """Resolve a request after checking everything that can be told without reading data.

    ``log`` is called with what a user should know of the grid.

    Raises:
        UserError: for any mistake in the request or in params.yaml.
    """
    declaration, parameters = declared(name), read_request(request, log)
    own = own_datasets(parameters, draw_again=request.draw_again)
    profile: Profile = getattr(parameters, request.profile)
    of_profile = chain.from_iterable(getattr(profile, section).datasets for section in declaration.sections)
    datasets = list(dict.fromkeys(request.datasets or of_profile))
    for dataset in datasets:
        require_kind(name, dataset, kind_of(dataset, own))
        if dataset in own:
            if own[dataset].private and request.export:
                raise UserError(f"data set {dataset!r} is private and is never laid below data/; run without --export")
            check_declaration(own[dataset])
            require_lifetime(declaration, profile, own[dataset])
    for title, costs in declaration.costs(profile, datasets):
        require_within(costs, declaration.budget(profile), dataset=title)
    return ResolvedRequest(declaration, request, profile, datasets, own)


def require_lifetime(declaration: StudyDeclaration, profile: Profile, own: UserDataset) -> None:
    """Refuse a grid whose reports can never fit the lifetime budget of a private graph, drawn before or not.

    Raises:
        UserError: naming the first unit that does not suffice.
    """
    if not own.private or own.budget is None:
        return
    limits = dict(own.budget)
    if profile.seed is not None:
        raise UserError(f"{own.name}: noise from a known seed protects nothing; with a budget run with --set seed=null")
    reports = {
        (kind, tuple(spent.items()))
        for _, costs in declaration.costs(profile, [own.name])
        for kind, spent in costs.items()
    }
    draws = profile.repeats if own.fresh_noise else 1
    together = total(dict(spent) for _, spent in reports for _ in range(draws))
    if over := beyond(together, limits):
        unit = over[0]
        raise UserError(
            f"{own.name}: the reports that are asked for cost {together[unit]} for one {unit}, above its lifetime "
            f"budget {limits[unit]}: ask for fewer or smaller budgets, or leave out methods that need reports in clear"
        )


def read_request(request: StudyRequest, log: Callable[[str], object] = lambda _: None) -> Parameters:
    """The validated parameters of a request; see ``load_parameters``."""
    sections = {study.name: study.grid for study in STUDIES if study.grid is not None}
    return load_parameters(workspace() / PARAMETERS, request.profile, request.overrides, log, sections)


def own_datasets(parameters: Parameters, *, draw_again: bool = False) -> dict[str, UserDataset]:
    """The graphs that the user declared, with their paths below the checkout."""
    return {
        name: UserDataset(
            name=name,
            edges=workspace() / declared.edges,
            features=workspace() / declared.features if declared.features else None,
            labels=workspace() / declared.labels if declared.labels else None,
            nodes=declared.nodes,
            feature_bounds=declared.feature_bounds,
            private=declared.private,
            budget=None if declared.budget is None else tuple(limits_of(declared.budget).items()),
            account=workspace() / declared.account if declared.account else None,
            fresh_noise=declared.fresh_noise,
            scores=declared.scores,
            draw_again=draw_again,
        )
        for name, declared in parameters.datasets.items()
    }
