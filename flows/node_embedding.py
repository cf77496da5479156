"""Node embedding from private random walks, the FedWalk study: ``python -m flows.node_embedding``."""

from flows.run.command_line import main

if __name__ == "__main__":
    raise SystemExit(main("node_embedding"))
