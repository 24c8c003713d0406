#!/usr/bin/env bash
# Whether Falchion builds for more CUDAs than the default one: the oldest, one between and the newest, with nothing in the workspace that turns
# on another; and a program outside of the workspace, with what it is told where it names no version or two.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
packages=(-p falchion -p falchion-lab -p falchion-cli)

for version in cuda-12000 cuda-12080 cuda-13040; do
  on=$(cargo tree "${packages[@]}" --no-default-features --features "$version" -e features -i cudarc --prefix none |
    grep -o '^cudarc feature "cuda-[^"]*"' | sort -u)
  if [ "$on" != "cudarc feature \"$version\"" ]; then echo "with $version there is: $on"; exit 1; fi
  cargo clippy "${packages[@]}" --no-default-features --features "$version" -- -D warnings
done

outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
mkdir "$outside/src"
cp Cargo.lock "$outside"
# As in the workspace, so that the same dependencies serve.
export CARGO_PROFILE_DEV_OPT_LEVEL=1

# Checks the program with what is to be written about falchion in its Cargo.toml, and with a feature of its own cudarc.
program() {
  cat > "$outside/Cargo.toml" <<MANIFEST
[package]
name = "outside"
edition = "2024"

[workspace]

[dependencies]
falchion = { path = "$PWD"$1 }
cudarc = { version = "0.19", default-features = false, features = [$2] }
MANIFEST
  cargo check --manifest-path "$outside/Cargo.toml"
}

# The program's cudarc and Falchion's are one, and know the CUDA that was asked for.
expects() {
  cat > "$outside/src/main.rs" <<PROGRAM
use falchion::cudarc::driver::{CudaStream, sys::CUDA_VERSION};

const _: () = assert!(CUDA_VERSION == $1);

fn main() {
    let _: fn(&CudaStream) -> &cudarc::driver::CudaStream = |stream| stream;
}
PROGRAM
}

expects 12080
program ', default-features = false, features = ["cuda-12080"]' '"cuda-12080"'
expects 13000
program '' ''

# The program has to be refused, and in this sentence.
refused() {
  if said=$(program "$1" '' 2>&1); then echo "builds with: $1"; exit 1; fi
  grep -F "error: $2" <<< "$said" | grep -F 'default-features = false, features = ["cuda-12080"]' || { echo "$said"; exit 1; }
}
refused ', default-features = false, features = ["cuda"]' "falchion's feature \`cuda\` is on without a version of CUDA"
refused ', features = ["cuda-12080"]' 'falchion is to be built for `cuda-12080` and for another version of CUDA'
