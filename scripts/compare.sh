#!/usr/bin/env bash
# Lists the problems of a suite that are slower in a new measurement than in the committed table.
#
#   scripts/compare.sh NEW.jsonl [SHARE]
#
# Compares two numbers per problem with the table: the ratio to the peer, and Falchion's own speed.
# Prints problems below SHARE, 0.98 by default, of the table. The script fails if a ratio is below
# SHARE, or if a number or a problem is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 - "$1" "${2:-0.98}" <<'PYTHON'
import json, os, sys

new, least = sys.argv[1], float(sys.argv[2])
# Fields of the result. The other fields identify the problem.
ANSWERED = {"kind", "family", "config", "route", "refused", "peer", "verified", "noisy", "device", "date", "commit"}

def lines(path):
    """Lines of a table by problem, with a number for repeated problems."""
    table = {}
    for line in map(json.loads, open(path)):
        asked = {k: v for k, v in line.items() if k not in ANSWERED and not k.startswith(("ours_", "peer_", "copy_", "own_", "ratio", "error", "sgemm_"))}
        key = json.dumps(asked, sort_keys=True)
        number = sum(other == key for other, _ in table)
        table[key, number] = line
    return table

old, new = lines(f"docs/performance/{os.path.basename(new)}"), lines(new)
failed = 0
for (asked, number), was in old.items():
    line = new.get((asked, number))
    if line is None:
        print(f"missing: {asked}")
        failed += 1
        continue
    of = "ratio_to_copy" if was.get("ratio_to_copy") else "ratio"
    ratio = (line.get(of) or 0.0) / was[of] if was.get(of) else 1.0
    own = was["ours_us"] / line["ours_us"] if was.get("ours_us") and line.get("ours_us") else float(not was.get("ours_us"))
    failed += ratio < least or own == 0.0
    if min(ratio, own) < least:
        print(f"ratio {ratio:.3f}, own speed {own:.3f}, {line.get('config')}: {asked}")
print(f"{len(old)} lines, {failed} missing or below {least} of the committed ratio")
sys.exit(1 if failed else 0)
PYTHON
