//! One access of one warp, lane by lane.

use core::fmt;
use falchion::{arch::WARP, threadblock::WAVEFRONT_BYTES};

/// Lanes of a warp, as a length.
pub const LANES: usize = WARP as usize;

/// Bytes of a word: what a bank delivers at once.
pub const WORD_BYTES: u64 = 4;

/// Banks of shared memory, each of which gives a wavefront a word.
pub const BANKS: usize = WAVEFRONT_BYTES as usize / WORD_BYTES as usize;

/// Which way the data goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From memory to registers.
    Load,
    /// From registers to memory.
    Store,
}

impl Direction {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
        }
    }
}

/// One instruction of one warp: each lane touches `bytes` bytes from an address on, or is
/// predicated off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WarpAccess {
    direction: Direction,
    bytes: u32,
    lanes: [Option<u64>; LANES],
}

/// Why addresses are no access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAnAccess {
    /// No instruction moves so many bytes.
    Width {
        /// Bytes asked for.
        bytes: u32,
    },
    /// There are more addresses than lanes.
    Lanes {
        /// Addresses given, at least.
        given: usize,
    },
    /// An address is not a multiple of the access.
    Misaligned {
        /// The lane.
        lane: usize,
        /// Its address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
}

impl fmt::Display for NotAnAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Width { bytes } => {
                let nearest = Self::nearest(bytes);
                write!(
                    f,
                    "an access of {bytes} bytes per lane is invalid; the widths are 1, 2, 4, 8, and 16; try {nearest}"
                )
            }
            Self::Lanes { given } => {
                write!(f, "{given} addresses are too many: a warp has {LANES} lanes")
            }
            Self::Misaligned { lane, address, bytes } => write!(
                f,
                "lane {lane}'s address {address} is not a multiple of the access's {bytes} bytes; try {}",
                address - address % u64::from(bytes)
            ),
        }
    }
}

impl NotAnAccess {
    fn nearest(bytes: u32) -> u32 {
        bytes.clamp(1, 16).next_power_of_two()
    }
}

impl WarpAccess {
    /// The access of `bytes` bytes a lane at these addresses, in bytes, lane 0 first; lanes beyond
    /// the last are off.
    ///
    /// # Errors
    /// [`NotAnAccess`] for a width other than 1, 2, 4, 8 and 16, for more than 32 addresses, and
    /// for an address that is no multiple of the width.
    pub fn new(
        direction: Direction,
        bytes: u32,
        addresses: impl IntoIterator<Item = Option<u64>>,
    ) -> Result<Self, NotAnAccess> {
        if !(bytes.is_power_of_two() && bytes <= 16) {
            return Err(NotAnAccess::Width { bytes });
        }
        let mut lanes = [None; LANES];
        for (lane, address) in addresses.into_iter().enumerate() {
            let place = lanes.get_mut(lane).ok_or(NotAnAccess::Lanes { given: lane + 1 })?;
            if let Some(address) =
                address.filter(|address| !address.is_multiple_of(u64::from(bytes)))
            {
                return Err(NotAnAccess::Misaligned { lane, address, bytes });
            }
            *place = address;
        }
        Ok(Self { direction, bytes, lanes })
    }

    /// Which way the data goes.
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Bytes a lane.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The address of each lane, in bytes.
    pub const fn lanes(&self) -> &[Option<u64>; LANES] {
        &self.lanes
    }

    /// Lanes that take part.
    pub fn active(&self) -> usize {
        self.lanes.iter().flatten().count()
    }

    /// The words (four bytes each) that a lane touches: one, two or four, by number.
    pub fn words(&self, lane: usize) -> impl Iterator<Item = u64> + use<> {
        let count = u64::from(self.bytes).div_ceil(WORD_BYTES);
        let first = self.lanes.get(lane).copied().flatten().map(|address| address / WORD_BYTES);
        first.into_iter().flat_map(move |first| first..=first + (count - 1))
    }
}
