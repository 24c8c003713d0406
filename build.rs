//! Refuses the feature `cuda` without a CUDA version, and two versions.
//!
//! A `compile_error!` in the library would come after hundreds of errors of cudarc, which is compiled
//! first. This script has no dependency, so its error is printed first.

macro_rules! versions {
    (@refuse $($why:literal)+) => {
        compile_error!(concat!(
            $($why,)+ "; write `default-features = false, features = [\"cuda-12080\"]` for falchion ",
            "in Cargo.toml, or another version of CUDA there"
        ));
    };
    (@two) => {};
    (@two $one:literal $($other:literal)*) => {
        #[cfg(all(feature = $one, any($(feature = $other),*)))]
        versions!(@refuse "falchion has the feature `" $one "` and another version of CUDA");
        versions!(@two $($other)*);
    };
    ($($version:literal)+) => {
        #[cfg(all(feature = "cuda", not(any($(feature = $version),+))))]
        versions!(@refuse "falchion's feature `cuda` is on without a version of CUDA");
        versions!(@two $($version)+);
    };
}

// The versions of Cargo.toml. `tests/laws/house/versions.rs` compares both lists.
versions!(
    "cuda-12000" "cuda-12010" "cuda-12020" "cuda-12030" "cuda-12040" "cuda-12050" "cuda-12060" "cuda-12080" "cuda-12090"
    "cuda-13000" "cuda-13010" "cuda-13020" "cuda-13030" "cuda-13040"
);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
