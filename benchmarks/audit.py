"""How often the audit accuses right mechanisms: ``python -m benchmarks.audit`` runs fast audits, seed after seed.

All bounds of one audit hold together with a stated confidence, so that of 300 audits at 99.9% hardly one may accuse.
"""

from __future__ import annotations

import argparse
import time

from flows.system.environment import configure_environment


def main() -> int:
    """Prints every alarm, then how many audits had one and the processor time of an audit; 1 where one had."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__)
    parser.add_argument("--audits", type=int, default=300, metavar="N", help="how many; 300 unless told")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="the others follow it; 0 unless told")
    chosen = parser.parse_args()
    configure_environment()
    # Imported now: numba reads its environment once, when it is first imported.
    from tasks.evaluation.audits.running import CONFIDENCE, FAST_DRAWS, all_cases, audited

    cases, alarms, started = all_cases(), 0, time.process_time()
    for number in range(chosen.audits):
        seed = chosen.first_seed + number
        accused = [row for row in audited(cases, seed, FAST_DRAWS) if row.refuted]
        alarms += bool(accused)
        for row in accused:
            print(f"seed {seed}: {row.mechanism}, {row.setting}: claims {row.claim:g}, bound {row.lower_bound:.4f}")
        if (number + 1) % 10 == 0:
            print(f"{number + 1} audits, {alarms} with an alarm", flush=True)
    seconds = (time.process_time() - started) / max(1, chosen.audits)
    expected = chosen.audits * (1 - CONFIDENCE)
    print(
        f"{alarms} of {chosen.audits} audits of {len(cases)} cases had an alarm, at most {expected:.2g} are expected; "
        f"{seconds:.1f} s of processor time each"
    )
    return 1 if alarms else 0


if __name__ == "__main__":
    raise SystemExit(main())
