# What a change has to pass, and what a release is measured by.

# Format, lints, documentation, tests, kernels through NVRTC: no GPU needed.
check:
    bash .ci/run

# One folder for a GPU machine without cargo.
bundle:
    scripts/bundle.sh

# Every kernel through NVRTC.
kernels:
    cargo test --test nvrtc -- --ignored --nocapture

# The tests of a device, here: all of them are in one binary.
gpu:
    cargo test --test gpu -- --ignored --test-threads=1

# compute-sanitizer's four tools over the tests of a device.
sanitize:
    scripts/sanitize.sh bundle

# What choosing a configuration and the layout algebra cost on the host: the tests of the laws that measure time.
speed:
    cargo test --release --test laws -- --ignored --nocapture --test-threads=1 --skip published_sums

# The table of docs/performance/simt.md.
bench:
    cargo run --release -- bench --suite benches/suites/simt.jsonl

# Which lines of a suite, measured again, are slower than its committed table.
compare table:
    scripts/compare.sh {{table}}

# The book, into book/book.
book:
    mdbook build book
