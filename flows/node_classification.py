"""Node classification under local differential privacy, the Solitude study: ``python -m flows.node_classification``."""

from flows.run.command_line import main

if __name__ == "__main__":
    raise SystemExit(main("node_classification"))
