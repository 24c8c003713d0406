# What a change has to pass, and what a release is measured by.

# Format, lints, documentation, tests, kernels through NVRTC: no GPU needed.
check:
    bash .ci/run

# One folder for a GPU machine without cargo.
bundle:
    scripts/bundle.sh

# The tests of a device, here.
gpu:
    cargo test -p falchion --features cuda,serde --test conformance --test same_bits --test cuda --test explore -- --ignored --test-threads=1

# compute-sanitizer's four tools over the tests of a device.
sanitize:
    scripts/sanitize.sh bundle

# The table of docs/performance/simt.md.
bench:
    cargo run --release -- bench --suite benches/suites/simt.jsonl
