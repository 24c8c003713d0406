//! The number of wavefronts of a warp's access to shared memory.
//!
//! Word `x` (four bytes) is in bank `x mod 32`. In each wavefront, a bank serves one word. Lane `l`
//! touches the words `W(l)`. The degree of a set `S` of lanes is the number of words that the
//! busiest bank serves:
//!
//! ```text
//! d(S) = max over banks b of |{ x in union of W(l), l in S : x mod 32 = b }|          a word counts once: it is broadcast
//! ```
//!
//! An access of up to 4 bytes per lane has one phase. An access of 8 bytes has two phases (lanes
//! 0-15 and 16-31), and an access of 16 bytes has four (eight lanes each). A wavefront delivers at
//! most 128 bytes to the registers, unless lanes read the same bytes. For `m = 1` or `m = 2`,
//! assume that every active lane `l` of a load has a partner `l xor m` that is off or has the same
//! address. Each pair of adjacent phases then becomes one phase. With the remaining phases `P`,
//!
//! ```text
//! wavefronts = sum over S in P of d(S)          ideal = sum over S in P of ceil(|union of W(l), l in S| / 32)
//! ```
//!
//! Sources: CUDA C++ Programming Guide, "Shared Memory" (banks, broadcast); NVIDIA's answer in
//! <https://forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228/2> (partners `l xor 1`, `l xor 2`; 128
//! bytes per cycle). These sources leave some details open. They are fields of a [`Rule`], which
//! `scripts/banks.sh` measures on a device.

use super::access::{BANKS, Direction, LANES, WarpAccess};
use falchion::threadblock::WAVEFRONT_BYTES;
use std::collections::BTreeMap;

/// A set of lanes, bit `l` for lane `l`.
pub(super) type LaneSet = u32;

/// The condition under which adjacent phases merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Merging {
    /// Never.
    #[cfg(test)]
    Never,
    /// If partners have the same address.
    Partners {
        /// Whether an inactive lane agrees with its partner.
        off_agrees: bool,
        /// Whether it is sufficient that the lanes of two adjacent phases agree. Otherwise, all
        /// lanes of the warp must agree.
        by_halves: bool,
        /// Whether the phases of stores also merge.
        stores: bool,
    },
}

/// The parts of the rule, so that tests can remove each part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rule {
    /// Whether a word that several lanes touch counts once.
    pub broadcast: bool,
    /// Whether wide accesses have phases.
    pub phases: bool,
    /// The condition under which phases merge.
    pub merging: Merging,
}

/// The wavefronts of an access, with and without bank conflicts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct Wavefronts {
    /// Wavefronts of the access; 0 if no lane is active.
    pub wavefronts: u32,
    /// Wavefronts without bank conflicts.
    pub ideal: u32,
}

impl Wavefronts {
    /// Returns the wavefronts that a layout without conflicts would save.
    pub const fn conflicts(self) -> u32 {
        self.wavefronts - self.ideal
    }
}

/// Returns the wavefronts of an access by the hardware's rule.
///
/// ```
/// use falchion_lab::banks::{Direction, WarpAccess, wavefronts};
///
/// let column = |pitch: u64| WarpAccess::new(Direction::Load, 4, (0..32).map(|row| Some(row * pitch * 4)));
/// assert_eq!(wavefronts(&column(32)?).wavefronts, 32);
/// assert_eq!(wavefronts(&column(33)?).wavefronts, 1);
/// # Ok::<(), falchion_lab::banks::NotAnAccess>(())
/// ```
pub fn wavefronts(access: &WarpAccess) -> Wavefronts {
    Rule::HARDWARE.wavefronts(access)
}

/// A word in a wavefront of an access, with the lanes that touch it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Number of the wavefront, from 0.
    pub wavefront: u32,
    /// Number of the word.
    pub word: u64,
    /// The lanes, in ascending order.
    pub lanes: Vec<usize>,
}

/// Returns the words of an access by wavefront. The words of each bank are in ascending order of
/// their addresses, which is one order that the rule allows.
///
/// ```
/// use falchion_lab::banks::{Direction, WarpAccess, deliveries, wavefronts};
///
/// let access = WarpAccess::new(Direction::Load, 4, (0..32).map(|lane| Some(lane % 8 * 128)))?;
/// let deliveries = deliveries(&access);
/// assert_eq!(deliveries.len(), 8);
/// assert_eq!((deliveries[7].wavefront, &*deliveries[7].lanes), (7, &[7, 15, 23, 31][..]));
/// # Ok::<(), falchion_lab::banks::NotAnAccess>(())
/// ```
pub fn deliveries(access: &WarpAccess) -> Vec<Delivery> {
    let (mut deliveries, mut before) = (Vec::new(), 0);
    for phase in Rule::HARDWARE.phases(access) {
        let mut words: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for lane in members(phase) {
            access.words(lane).for_each(|word| words.entry(word).or_default().push(lane));
        }
        let mut spoken = [0; BANKS];
        let mut phase: Vec<_> = words
            .into_iter()
            .map(|(word, lanes)| {
                let turn = &mut spoken[(word % BANKS as u64) as usize];
                *turn += 1;
                Delivery { wavefront: before + *turn - 1, word, lanes }
            })
            .collect();
        phase.sort_by_key(|delivery| (delivery.wavefront, delivery.word % BANKS as u64));
        before += spoken.into_iter().max().unwrap_or(0);
        deliveries.extend(phase);
    }
    deliveries
}

impl Rule {
    /// The rule of the device.
    pub const HARDWARE: Self = Self {
        broadcast: true,
        phases: true,
        merging: Merging::Partners { off_agrees: true, by_halves: false, stores: false },
    };

    /// Returns the wavefronts of an access.
    pub fn wavefronts(&self, access: &WarpAccess) -> Wavefronts {
        let mut sum = Wavefronts::default();
        for lanes in self.phases(access) {
            let (degree, words) = self.degree(access, lanes);
            sum.wavefronts += degree;
            sum.ideal += words.div_ceil(BANKS as u32);
        }
        sum
    }

    /// Returns the phases: sets of lanes whose words are delivered together. Phases without an
    /// active lane are omitted.
    pub fn phases(&self, access: &WarpAccess) -> Vec<LaneSet> {
        let lanes = if self.phases {
            (WAVEFRONT_BYTES / access.bytes()).min(LANES as u32)
        } else {
            LANES as u32
        };
        let apart: Vec<_> = (0..LANES as u32)
            .step_by(lanes as usize)
            .map(|first| (LaneSet::MAX >> (LANES as u32 - lanes)) << first)
            .collect();
        let together = apart.chunks(2).flat_map(|pair| {
            let both = pair.iter().fold(0, |both, phase| both | phase);
            if pair.len() == 2 && self.merges(access, both) { vec![both] } else { pair.to_vec() }
        });
        let active = active(access);
        together.map(|phase| phase & active).filter(|&phase| phase != 0).collect()
    }

    /// Returns whether all active lanes of a set agree with their partners.
    fn merges(&self, access: &WarpAccess, set: LaneSet) -> bool {
        let (off_agrees, by_halves, stores) = match self.merging {
            Merging::Partners { off_agrees, by_halves, stores } => (off_agrees, by_halves, stores),
            #[cfg(test)]
            Merging::Never => return false,
        };
        let set = if by_halves { set } else { LaneSet::MAX };
        let lanes = access.lanes();
        let agree = |mask: usize| {
            members(set & active(access)).all(|lane| match lanes[lane ^ mask] {
                None => off_agrees,
                address => address == lanes[lane],
            })
        };
        (stores || access.direction() == Direction::Load) && (agree(1) || agree(2))
    }

    /// Returns the number of words that the busiest bank serves for a set of lanes, and the number
    /// of words.
    fn degree(&self, access: &WarpAccess, set: LaneSet) -> (u32, u32) {
        let mut words: Vec<u64> = members(set).flat_map(|lane| access.words(lane)).collect();
        if self.broadcast {
            words.sort_unstable();
            words.dedup();
        }
        let mut banks = [0; BANKS];
        for word in &words {
            banks[(word % BANKS as u64) as usize] += 1;
        }
        (banks.into_iter().max().unwrap_or(0), words.len() as u32)
    }
}

fn active(access: &WarpAccess) -> LaneSet {
    (0..LANES).filter(|&lane| access.lanes()[lane].is_some()).fold(0, |set, lane| set | 1 << lane)
}

fn members(set: LaneSet) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| set >> lane & 1 == 1)
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
