# The checks of a change, and the measurements of a release.

# Format, lints, documentation, tests, and kernels through NVRTC. Needs no GPU.
check:
    bash .ci/run

# Unit tests and the laws that need no compiler.
quick:
    cargo test --lib
    cargo test --test laws

# One folder for a GPU machine without cargo.
bundle:
    scripts/bundle.sh

# Every kernel through NVRTC.
kernels:
    cargo test --test nvrtc -- --ignored --nocapture

# The tests of the CUDA executor, on this machine's GPU.
gpu:
    cargo test --test gpu -- --ignored --test-threads=1

# compute-sanitizer's four tools over a few cases of each kind of kernel, in the folder of `just bundle`.
sanitize:
    scripts/sanitize.sh bundle

# Host time of configuration choice and of the layout algebra.
speed:
    cargo test --release --test laws -- --ignored --nocapture --test-threads=1 --skip published_sums

# Measures docs/performance/NAME.jsonl and its page.
bench suite="simt":
    cargo run --release -- bench --suite benches/suites/{{suite}}.jsonl

# Problems of a suite that are slower than in the committed table.
compare table:
    scripts/compare.sh {{table}}

# Generated pages, tables, and pictures from docs/performance/*.jsonl.
pages:
    cargo run --release -p falchion-lab --example pages

# The book, into book/book.
book:
    mdbook build book
