//! Accesses of warps: made of threads' own, and counted.

use crate::{
    Error,
    banks::{Direction, LANES, NotAnAccess, WarpAccess, lines, sectors, wavefronts},
};
use falchion::arch::WARP;
use std::collections::BTreeMap;

/// Accesses to a matrix in global memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct GlobalAccesses {
    /// Elements, each as often as a thread touches it.
    pub elements: u64,
    /// Instructions of a warp.
    pub requests: u64,
    /// Sectors of 32 bytes, each once a request.
    pub sectors: u64,
    /// Lines of 128 bytes, each once a request.
    pub lines: u64,
}

impl GlobalAccesses {
    /// An access that is made so many times, and reads so many elements each time.
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
    /// Instructions of a warp.
    pub accesses: u64,
    /// Wavefronts that they take.
    pub wavefronts: u64,
    /// Wavefronts that they would take if no two words shared a bank.
    pub ideal: u64,
}

impl SharedAccesses {
    /// An access that is made so many times.
    pub fn add(&mut self, times: u64, access: &WarpAccess) {
        let taken = wavefronts(access);
        self.accesses += times;
        self.wavefronts += times * u64::from(taken.wavefronts);
        self.ideal += times * u64::from(taken.ideal);
    }
}

/// Which access: the warp, what for, numbers that tell its accesses apart, and how many bytes of a
/// lane.
type Key<What> = (u32, What, [u32; 3], u32);

/// Threads' accesses between two barriers, lane by lane: a warp's come together again by what they
/// are for, and by their numbers.
pub(crate) struct Gathered<'t, What> {
    open: BTreeMap<Key<What>, [Option<u64>; LANES]>,
    tell: &'t mut dyn FnMut(What, &WarpAccess),
    failed: Option<NotAnAccess>,
}

impl<'t, What: Ord + Copy> Gathered<'t, What> {
    /// None yet; `tell` takes each access of a warp.
    pub fn new(tell: &'t mut dyn FnMut(What, &WarpAccess)) -> Self {
        Self { open: BTreeMap::new(), tell, failed: None }
    }

    /// Adds a thread's.
    pub fn add(&mut self, thread: u32, what: What, which: [u32; 3], address: u64, bytes: u32) {
        let lanes = self.open.entry((thread / WARP, what, which, bytes)).or_insert([None; LANES]);
        lanes[(thread % WARP) as usize] = Some(address);
    }

    /// All threads meet: tells of what there is, in order.
    pub fn meet(&mut self, direction: impl Fn(What) -> Direction) {
        for ((_, what, _, bytes), lanes) in core::mem::take(&mut self.open) {
            match WarpAccess::new(direction(what), bytes, lanes) {
                Ok(access) => (self.tell)(what, &access),
                Err(apart) => self.failed = Some(apart),
            }
        }
    }

    /// Whether all were accesses.
    ///
    /// # Errors
    /// [`Error::Measurement`] if an address is not a multiple of the access size.
    pub fn finish(&self) -> Result<(), Error> {
        self.failed.map_or(Ok(()), |what| Err(Error::Measurement { because: what.to_string() }))
    }
}
