//! How many wavefronts a warp's access to shared memory takes.
//!
//! Word `x` (four bytes) lies in bank `x mod 32`, and a wavefront has of each bank one word. Lane
//! `l` touches the words `W(l)`. For a set `S` of lanes, the degree is how often the busiest bank
//! has to speak:
//!
//! ```text
//! d(S) = max over banks b of |{ x in union of W(l), l in S : x mod 32 = b }|          a word counts once: it is broadcast
//! ```
//!
//! An access of up to 4 bytes a lane is one phase, of 8 bytes two (lanes 0-15 and 16-31), of 16
//! bytes four (eight lanes each). A wavefront also carries no more than 128 bytes to the registers,
//! unless lanes that read the same share them: where, for `m = 1` or for `m = 2`, every active lane
//! `l` of a load has a partner `l xor m` that is off or has the same address, each two neighbouring
//! phases become one. With `P` the phases that are left,
//!
//! ```text
//! wavefronts = sum over S in P of d(S)          ideal = sum over S in P of ceil(|union of W(l), l in S| / 32)
//! ```
//!
//! Sources: CUDA C++ Programming Guide, "Shared Memory" (banks, broadcast); NVIDIA's answer in
//! <https://forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228/2> (partners `l xor 1`, `l xor 2`; 128
//! bytes a cycle). What they leave open is a [`Rule`], decided by `scripts/banks.sh` on a device.

use super::access::{BANKS, Direction, LANES, WarpAccess};
use falchion::threadblock::WAVEFRONT_BYTES;
use std::collections::BTreeMap;

/// A set of lanes, bit `l` for lane `l`.
pub(super) type LaneSet = u32;

/// When neighbouring phases become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Merging {
    /// Never.
    #[cfg(test)]
    Never,
    /// When partners agree.
    Partners {
        /// Whether a lane that is off agrees with its partner.
        off_agrees: bool,
        /// Whether it is enough that the lanes of two neighbouring phases agree; else all of the
        /// warp has to.
        by_halves: bool,
        /// Whether stores merge too.
        stores: bool,
    },
}

/// What the rule is made of, so that a part can be taken away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rule {
    /// Whether a word that several lanes touch counts once.
    pub broadcast: bool,
    /// Whether wide accesses come in phases.
    pub phases: bool,
    /// When phases become one.
    pub merging: Merging,
}

/// Wavefronts, and what there would be if no two words shared a bank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct Wavefronts {
    /// Wavefronts of the access; 0 when no lane takes part.
    pub wavefronts: u32,
    /// Wavefronts of as many words on banks of their own.
    pub ideal: u32,
}

impl Wavefronts {
    /// Wavefronts that another layout could do without.
    pub const fn conflicts(self) -> u32 {
        self.wavefronts - self.ideal
    }
}

/// The wavefronts of an access, by the hardware's rule.
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

/// A word on its way: which wavefront of the access carries it, and between it and which lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// From 0.
    pub wavefront: u32,
    /// The number of the word.
    pub word: u64,
    /// The lanes, in order.
    pub lanes: Vec<usize>,
}

/// The words of an access, wavefront by wavefront, each bank's in the order of their addresses: one
/// order that the rule allows.
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
    /// What the device does.
    pub const HARDWARE: Self = Self {
        broadcast: true,
        phases: true,
        merging: Merging::Partners { off_agrees: true, by_halves: false, stores: false },
    };

    /// The wavefronts of an access.
    pub fn wavefronts(&self, access: &WarpAccess) -> Wavefronts {
        let mut sum = Wavefronts::default();
        for lanes in self.phases(access) {
            let (degree, words) = self.degree(access, lanes);
            sum.wavefronts += degree;
            sum.ideal += words.div_ceil(BANKS as u32);
        }
        sum
    }

    /// The phases: sets of lanes whose data comes together. Those without an active lane take no
    /// time.
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

    /// Whether all active lanes of a set agree with their partners.
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

    /// How often the busiest bank speaks for a set of lanes, and how many words there are.
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
