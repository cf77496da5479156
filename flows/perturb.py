"""The perturb stage: every report of the node classification study below data/noisy: ``python -m flows.perturb``."""

from flows.run.command_line import main

if __name__ == "__main__":
    raise SystemExit(main("perturb"))
