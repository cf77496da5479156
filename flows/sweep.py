"""Any study, any part of its grid: ``python -m flows.sweep``."""

from flows.run.command_line import main

if __name__ == "__main__":
    raise SystemExit(main("sweep"))
