"""Clustering of ego graphs in Gromov-Wasserstein space: ``python -m flows.ego_clustering``."""

from flows.run.command_line import main

if __name__ == "__main__":
    raise SystemExit(main("ego_clustering"))
