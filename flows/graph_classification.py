"""Graph classification by a Gromov-Wasserstein kernel, the GW-LDP study: ``python -m flows.graph_classification``."""

from flows.run.command_line import main

if __name__ == "__main__":
    raise SystemExit(main("graph_classification"))
