//! Cache of encoded tensor maps.

use crate::{
    codegen::TensorMap, error::Error, sys::tensor_map::encode, threadblock::TensorMapDesc,
};
use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::{Mutex, PoisonError},
};

/// Number of cached tensor maps, a power of two.
const SLOTS: usize = 64;

/// Key of a tensor map: the descriptor, and the device address. A tensor map does not depend on the
/// device.
type Key = (TensorMapDesc, u64);

/// Direct-mapped cache of encoded tensor maps. A new map replaces the map in its slot. A lookup
/// allocates no memory.
struct TensorMaps(Mutex<[Option<(Key, TensorMap)>; SLOTS]>);

impl TensorMaps {
    /// Creates an empty cache.
    const fn new() -> Self {
        Self(Mutex::new([None; SLOTS]))
    }

    /// Returns the cached map of a tensor at an address. If the cache has no such map, the function
    /// calls `encode` and caches its result.
    ///
    /// # Errors
    /// The error of `encode`, which the cache does not keep.
    fn get_or(
        &self,
        desc: &TensorMapDesc,
        address: u64,
        encode: impl FnOnce() -> Result<TensorMap, Error>,
    ) -> Result<TensorMap, Error> {
        let key = (*desc, address);
        let slot = BuildHasherDefault::<DefaultHasher>::default().hash_one(key) as usize % SLOTS;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner)[slot];
        if let Some((_, map)) = known.filter(|(other, _)| *other == key) {
            return Ok(map);
        }
        let map = encode()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[slot] = Some((key, map));
        Ok(map)
    }
}

static KNOWN: TensorMaps = TensorMaps::new();

/// Returns the map of a tensor at a device address, from the cache or from the driver. Allocates no
/// memory after the driver has been loaded.
///
/// # Errors
/// The errors of [`encode`].
pub fn tensor_map(desc: &TensorMapDesc, address: u64) -> Result<TensorMap, Error> {
    KNOWN.get_or(desc, address, || encode(desc, address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Refusal, layout::Order, numeric::ElementKind, threadblock::SwizzleMode,
        threadblock::TensorMatrix,
    };

    fn desc(rows: u64) -> TensorMapDesc {
        let matrix = TensorMatrix::new(
            crate::refusal::Operand::A,
            ElementKind::F32,
            Order::Row,
            (rows, 64),
            64,
        );
        matrix.map((8, 32), SwizzleMode::Bytes128).expect("a map")
    }

    #[test]
    fn a_map_is_made_once_and_the_memory_is_bounded() {
        let (maps, mut made) = (TensorMaps::new(), 0);
        let mut get = |rows: u64, address: u64| {
            let make = || {
                made += 1;
                Ok(TensorMap { word: [rows * 1000 + address; 16] })
            };
            maps.get_or(&desc(rows), address, make).expect("a map").word[15]
        };
        assert_eq!(
            [get(1, 16), get(1, 16), get(1, 32), get(2, 16), get(1, 16)],
            [1016, 1016, 1032, 2016, 1016]
        );
        // There are more keys than slots. Each lookup returns the map of its key, and most lookups
        // encode again.
        for _ in 0..2 {
            for rows in 10..510 {
                assert_eq!(get(rows, 48), rows * 1000 + 48);
            }
        }
        assert!(made > 3 + 500 + 500 - SLOTS, "{made} maps made");
    }

    #[test]
    fn an_error_is_not_remembered() {
        let maps = TensorMaps::new();
        let refused = maps.get_or(&desc(1), 16, || Err(Refusal::NOT_PREPARED.into()));
        let refused = refused.expect_err("a capture");
        assert_eq!(refused.refusal(), Some(&Refusal::NOT_PREPARED));
        assert_eq!(
            maps.get_or(&desc(1), 16, || Ok(TensorMap { word: [7; 16] })).expect("a map").word,
            [7; 16]
        );
    }

    #[test]
    fn invalid_tensor_maps_are_refused_without_a_driver() {
        let refused = tensor_map(&desc(9), 8).expect_err("misaligned").to_string();
        assert_eq!(refused, "address of the tensor = 8 is not a multiple of 16; try 16");
    }
}
