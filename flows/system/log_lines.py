"""Log lines as they may be shown."""

from __future__ import annotations

import logging

from tasks.redaction import without_secrets


class WithoutSecrets(logging.Formatter):
    """A formatter that masks passwords and keys."""

    def format(self, record: logging.LogRecord) -> str:
        """See ``logging.Formatter``."""
        return without_secrets(super().format(record))
