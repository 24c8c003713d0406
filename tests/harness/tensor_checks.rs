//! Comparisons of TMA copies on a device with the host's model: all of shared memory, and the
//! tensors that are stored.

use super::{
    multicast::Multicast,
    tensor_device::{Device, LOAD, ROUND, Run, STORE},
    tensor_kernels::{MEMORY_BYTES, MULTICAST, THREADS, untouched},
    tensors::{POISON, bytes},
};
use crate::harness::prelude::*;

/// Returns the part of shared memory that the tile of a copy occupies.
pub fn tile<'m>(copy: &TensorCopy, memory: &'m mut [u8]) -> &'m mut [u8] {
    let start = copy.tile().address() as usize;
    &mut memory[start..start + copy.tile().footprint_bytes() as usize]
}

/// Returns random bytes for the elements of a copy. TMA rounds tf32, so tf32 elements are already
/// rounded and have exponents that every mode preserves.
fn elements(copy: &TensorCopy, seed: u64, count: usize) -> Vec<u8> {
    let mut drawn = bytes(seed, count);
    if copy.tile().map().element == ElementKind::Tf32 {
        for number in drawn.chunks_exact_mut(4) {
            (number[0], number[1], number[3]) = (0, number[1] & 0xe0, number[3] & 0xbf | 0x20);
        }
    }
    drawn
}

pub fn reach(copy: &TensorCopy) -> usize {
    copy.tile().map().reach_bytes() as usize
}

/// Returns the first differing byte and the number of differing bytes. `None` if there are none.
pub fn difference(found: &[u8], expected: &[u8]) -> Option<String> {
    let at = found.iter().zip(expected).position(|(found, expected)| found != expected)?;
    let count = found.iter().zip(expected).filter(|(found, expected)| found != expected).count();
    Some(format!(
        "{count} bytes differ, the first at {at}: {:#04x} where {:#04x} was expected",
        found[at], expected[at]
    ))
}

/// Returns a copy of a box at a corner to a tile.
pub fn copy(desc: &TensorMapDesc, address: u32, corner: [i32; 3]) -> TensorCopy {
    let tile =
        SharedBox::new(desc, address).unwrap_or_else(|refusal| panic!("{desc:?}: {refusal}"));
    TensorCopy::new(tile, [corner[0], corner[1], corner[2], 0, 0])
}

/// Checks that a load on the device equals the model.
pub fn check_load(device: &Device, load: &TensorCopy, seed: u64) {
    let (source, before) = (elements(load, seed, reach(load)), untouched());
    let mut expected = before.clone();
    load.load(&source, tile(load, &mut expected)).expect("it fits");
    let found = device.one(
        LOAD,
        [load, load],
        &source,
        &[POISON; 16].repeat(reach(load).div_ceil(16)),
        &before,
    );
    if let Some(why) = difference(&found.shared[0], &expected) {
        panic!("load of {load:?}: {why}");
    }
}

/// Checks that a store on the device equals the model.
pub fn check_store(device: &Device, store: &TensorCopy, seed: u64) {
    check_store_as(device, store, store, seed);
}

/// Checks that a store on the device equals the model of another store.
pub fn check_store_as(device: &Device, store: &TensorCopy, meant: &TensorCopy, seed: u64) {
    let (target, mut before) = (vec![POISON; reach(meant)], elements(store, seed, MEMORY_BYTES));
    let mut expected = target.clone();
    meant.store(tile(store, &mut before), &mut expected).expect("it fits");
    let found = device.one(STORE, [store, store], &target, &target, &before);
    if let Some(why) = difference(&found.target, &expected) {
        panic!("store of {store:?}: {why}");
    }
    assert_eq!(difference(&found.shared[0], &before), None, "a store changes no shared memory");
}

/// Checks that a load and a subsequent store with cache hints equal the model.
pub fn check_round(device: &Device, load: &TensorCopy, store: &TensorCopy, seed: u64) {
    let (source, target) = (elements(load, seed, reach(load)), vec![POISON; reach(store)]);
    let (mut memory, mut expected) = (untouched(), target.clone());
    load.load(&source, tile(load, &mut memory)).expect("it fits");
    store.store(tile(store, &mut memory), &mut expected).expect("it fits");
    let found = device.one(ROUND, [load, store], &source, &target, &untouched());
    assert_eq!(difference(&found.shared[0], &memory), None, "{load:?}");
    assert_eq!(difference(&found.target, &expected), None, "{load:?} to {store:?}");
}

/// Checks that each CTA of a cluster of two whose bit is in the mask receives the whole box at the
/// same address. Shared memory of the other CTA must not change. Returns the number of CTAs.
pub fn check_multicast(
    device: &Device,
    load: &TensorCopy,
    to: Multicast,
    hint: bool,
    clusters: u32,
) -> usize {
    let (source, before) = (elements(load, 7, reach(load)), untouched());
    let mut tiles = vec![vec![POISON; load.tile().footprint_bytes() as usize]; 2];
    let told = to.load(load, &source, &mut tiles).expect("it fits");
    assert_eq!(told.iter().filter(|&&bytes| bytes != 0).count() as u32, to.0.count_ones());
    let grid = Grid { clusters, cluster: 2, threads: THREADS, shared_bytes: 0 };
    let (entry, mask, target) = (MULTICAST, to.0, source.as_slice());
    let run = Run {
        entry,
        grid,
        load,
        store: load,
        mask,
        hint,
        source: &source,
        target,
        before: &before,
    };
    let found = device.run(&run).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.shared.len(), 2 * clusters as usize);
    for (block, shared) in found.shared.iter().enumerate() {
        let mut expected = before.clone();
        tile(load, &mut expected).copy_from_slice(&tiles[block % 2]);
        assert_eq!(difference(shared, &expected), None, "{to:?}, block {block}, {load:?}");
    }
    found.shared.len()
}
