//! Refuses the feature `cuda` without a version of CUDA, and two versions.
//!
//! In the library a `compile_error!` would come too late: cudarc is compiled before it, and with
//! two versions it has hundreds of errors of its own. This script waits for no dependency, so its
//! sentences come first; errors of cudarc may follow where what it needs is built.

macro_rules! versions {
    (@refuse $($why:literal)+) => {
        compile_error!(concat!(
            $($why,)+ "; write `falchion = { version = \"", env!("CARGO_PKG_VERSION"),
            "\", default-features = false, features = [\"cuda-12080\"] }` in Cargo.toml, or another version of CUDA there"
        ));
    };
    (@two) => {};
    (@two $one:literal $($other:literal)*) => {
        #[cfg(all(feature = $one, any($(feature = $other),*)))]
        versions!(@refuse "falchion is to be built for `" $one "` and for another version of CUDA");
        versions!(@two $($other)*);
    };
    ($($version:literal)+) => {
        #[cfg(all(feature = "cuda", not(any($(feature = $version),+))))]
        versions!(@refuse "falchion's feature `cuda` is on without a version of CUDA");
        versions!(@two $($version)+);
    };
}

// All that Cargo.toml has, which `tests/laws/house/versions.rs` compares.
versions!(
    "cuda-12000" "cuda-12010" "cuda-12020" "cuda-12030" "cuda-12040" "cuda-12050" "cuda-12060" "cuda-12080" "cuda-12090"
    "cuda-13000" "cuda-13010" "cuda-13020" "cuda-13030" "cuda-13040"
);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
