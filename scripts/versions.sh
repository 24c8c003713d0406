#!/usr/bin/env bash
# Builds Falchion for the oldest CUDA version, one in between, and the newest, and checks that no
# crate of the workspace turns on another version. Then builds a program outside the workspace, and
# checks the errors for no version and for two versions.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
packages=(-p falchion -p falchion-lab -p falchion-cli)

for version in cuda-12000 cuda-12080 cuda-13040; do
  on=$(cargo tree "${packages[@]}" --no-default-features --features "$version" -e features -i cudarc --prefix none |
    grep -o '^cudarc feature "cuda-[^"]*"' | sort -u)
  if [ "$on" != "cudarc feature \"$version\"" ]; then echo "with $version there is: $on"; exit 1; fi
  # Only the library has code that depends on the version. The oldest version covers the other crates.
  if [ "$version" = cuda-12000 ]; then checked=("${packages[@]}"); else checked=(-p falchion); fi
  cargo clippy "${checked[@]}" --no-default-features --features "$version" -- -D warnings
done

outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
mkdir "$outside/src"
cp Cargo.lock "$outside"
# The optimization level of the workspace reuses its compiled dependencies.
export CARGO_PROFILE_DEV_OPT_LEVEL=1

# Checks the program with the given features of falchion, $1, and of its own cudarc, $2.
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

# Writes a program that compiles if its cudarc is Falchion's and has the CUDA version $1.
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

# Checks that the program with the dependency $1 fails to build with the error $2.
refused() {
  if said=$(program "$1" '' 2>&1); then echo "builds with: $1"; exit 1; fi
  grep -F "error: $2" <<< "$said" | grep -F 'default-features = false, features = ["cuda-12080"]' || { echo "$said"; exit 1; }
}
refused ', default-features = false, features = ["cuda"]' "falchion's feature \`cuda\` is on without a version of CUDA"
refused ', features = ["cuda-12080"]' 'falchion has the feature `cuda-12080` and another version of CUDA'
