#!/usr/bin/env bash
# Which lines of a suite that was measured again are slower than the committed table: scripts/compare.sh NEW.jsonl [SHARE]
# Of each line the ratio to the peer, and our own speed, as shares of the table's; those below SHARE, 0.98 unless said, are printed, and
# fail the script where the ratio is.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 - "$1" "${2:-0.98}" <<'PYTHON'
import json, os, sys

new, least = sys.argv[1], float(sys.argv[2])
MEASURED = {"peer", "verified", "noisy", "device", "date", "commit", "error", "sgemm_error", "error_over_bound", "own_reference_us"}

def lines(path):
    """Lines of a table, by what was asked and which kernel answered."""
    table = {}
    for line in open(path):
        line = json.loads(line)
        asked = {k: v for k, v in line.items() if k not in MEASURED and not k.startswith(("ours_", "peer_", "copy_", "ratio"))}
        table[json.dumps(asked, sort_keys=True)] = line
    return table

suite = os.path.basename(new)
old, new = lines(f"docs/performance/{suite}"), lines(new)
slower = 0
for asked, line in new.items():
    if asked not in old:
        print(f"not in the table: {asked}")
        continue
    was = old[asked]
    ratio = next((k for k in ("ratio_to_copy", "ratio") if line.get(k) and was.get(k)), None)
    shares = [line[ratio] / was[ratio] if ratio else 1.0, was["ours_us"] / line["ours_us"] if was.get("ours_us") else 1.0]
    if min(shares) < least:
        slower += shares[0] < least
        print("ratio {:.3f}, own speed {:.3f}: {}".format(*shares, asked))
print(f"{len(new)} lines of {len(old)}, {slower} below {least} of the committed ratio")
sys.exit(1 if slower or len(new) < len(old) else 0)
PYTHON
