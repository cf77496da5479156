from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.redaction import without_secrets, without_user

LETTERS = st.characters(codec="ascii", exclude_characters="/ \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x00%*")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("at http://ann:hunter22@host:5000/x", "at http://***@host:5000/x"),
        ("postgresql+psycopg://ann:p@ss:w@db/mlflow", "postgresql+psycopg://***@db/mlflow"),
        ("token https://ghp_abcdef@host", "token https://***@host"),
        ("a@b.org, http://host/a@b", "a@b.org, http://host/a@b"),
        ("sqlite:////tmp/x.db", "sqlite:////tmp/x.db"),
    ],
)
def test_addresses_lose_their_users(text: str, clean: str) -> None:
    assert without_secrets(text) == clean


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["PREFECT_API_KEY", "AWS_SECRET_ACCESS_KEY", "MLFLOW_TRACKING_PASSWORD"]),
    st.text(LETTERS, min_size=6),
)
def test_values_of_secret_variables_are_never_left(monkeypatch: pytest.MonkeyPatch, name: str, secret: str) -> None:
    monkeypatch.setenv(name, secret)
    assert secret not in without_secrets(f"refused: '{secret}' and {secret}!")


def test_passwords_of_addresses_in_variables_are_found_alone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://ann:hunter%202@host/api")
    assert (
        without_secrets("nonnumeric port: 'hunter%202@host', that is hunter 2")
        == "nonnumeric port: '***@host', that is ***"
    )


def test_ordinary_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_USE_TOKEN", "true")
    assert without_secrets("true, cora eps_a=7") == "true, cora eps_a=7"


def test_an_address_without_its_user() -> None:
    assert without_user("http://ann:p@ss@host:80/a?b=c") == "http://host:80/a?b=c"
    assert without_user("http://127.0.0.1:4200/api") == "http://127.0.0.1:4200/api"
