"""The download stage: upstream files below data/raw: ``python -m flows.download``."""

from flows.run.command_line import main

if __name__ == "__main__":
    raise SystemExit(main("download"))
