//! Warp-level accesses: assembled from the accesses of threads, and counted.

use crate::{
    Error,
    banks::{Direction, LANES, NotAnAccess, WarpAccess, lines, sectors, wavefronts},
};
use falchion::arch::WARP;
use std::collections::BTreeMap;

/// Accesses to a matrix in global memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct GlobalAccesses {
    /// Elements, counted once per access of a thread.
    pub elements: u64,
    /// Warp-level instructions.
    pub requests: u64,
    /// Sectors of 32 bytes, each counted once per request.
    pub sectors: u64,
    /// Lines of 128 bytes, each counted once per request.
    pub lines: u64,
}

impl GlobalAccesses {
    /// Adds an access that occurs `times` times and touches `elements` elements each time.
    pub fn add(&mut self, times: u64, elements: u64, access: &WarpAccess) {
        self.elements += times * elements;
        self.requests += times;
        self.sectors += times * u64::from(sectors(access));
        self.lines += times * u64::from(lines(access));
    }
}

/// Accesses to shared memory in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct SharedAccesses {
    /// Warp-level instructions.
    pub accesses: u64,
    /// Wavefronts of the instructions.
    pub wavefronts: u64,
    /// Wavefronts of the instructions without bank conflicts.
    pub ideal: u64,
}

impl SharedAccesses {
    /// Adds an access that occurs `times` times.
    pub fn add(&mut self, times: u64, access: &WarpAccess) {
        let taken = wavefronts(access);
        self.accesses += times;
        self.wavefronts += times * u64::from(taken.wavefronts);
        self.ideal += times * u64::from(taken.ideal);
    }
}

/// Key of a warp-level access: the warp, the purpose, the access's numbers, and the bytes per lane.
type Key<What> = (u32, What, [u32; 3], u32);

/// The accesses of threads between two barriers. Accesses of the lanes of a warp are joined if
/// their purpose and numbers agree.
pub(crate) struct Gathered<'t, What> {
    open: BTreeMap<Key<What>, [Option<u64>; LANES]>,
    tell: &'t mut dyn FnMut(What, &WarpAccess),
    failed: Option<NotAnAccess>,
}

impl<'t, What: Ord + Copy> Gathered<'t, What> {
    /// Returns an empty set. `tell` receives each warp-level access.
    pub fn new(tell: &'t mut dyn FnMut(What, &WarpAccess)) -> Self {
        Self { open: BTreeMap::new(), tell, failed: None }
    }

    /// Adds an access of a thread.
    pub fn add(&mut self, thread: u32, what: What, which: [u32; 3], address: u64, bytes: u32) {
        let lanes = self.open.entry((thread / WARP, what, which, bytes)).or_insert([None; LANES]);
        lanes[(thread % WARP) as usize] = Some(address);
    }

    /// Reports all accesses so far, in order, because all threads have passed a barrier.
    pub fn meet(&mut self, direction: impl Fn(What) -> Direction) {
        for ((_, what, _, bytes), lanes) in core::mem::take(&mut self.open) {
            match WarpAccess::new(direction(what), bytes, lanes) {
                Ok(access) => (self.tell)(what, &access),
                Err(apart) => self.failed = Some(apart),
            }
        }
    }

    /// Checks that all accesses were valid.
    ///
    /// # Errors
    /// [`Error::Measurement`] if an address is not a multiple of the access size.
    pub fn finish(&self) -> Result<(), Error> {
        self.failed.map_or(Ok(()), |what| Err(Error::Measurement { because: what.to_string() }))
    }
}
