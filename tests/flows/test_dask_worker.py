from __future__ import annotations

import os
from unittest import mock

from flows.dask_worker import dask_setup


def test_a_worker_started_by_hand_has_the_settings_of_the_project() -> None:
    with mock.patch.dict(os.environ):
        for name in ("DGLBACKEND", "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE"):
            os.environ.pop(name, None)
        dask_setup(object())
        assert os.environ["DGLBACKEND"] == "pytorch"
        assert os.environ["PREFECT_SERVER_ALLOW_EPHEMERAL_MODE"] == "false"
