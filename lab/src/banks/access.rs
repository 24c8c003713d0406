//! One access of a warp, lane by lane.

use core::fmt;
use falchion::{arch::WARP, threadblock::WAVEFRONT_BYTES};

/// Lanes per warp, as a length.
pub const LANES: usize = WARP as usize;

/// Bytes per word, which is the width of a bank.
pub const WORD_BYTES: u64 = 4;

/// Banks of shared memory. In each wavefront, a bank serves one word.
pub const BANKS: usize = WAVEFRONT_BYTES as usize / WORD_BYTES as usize;

/// The direction of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From memory to registers.
    Load,
    /// From registers to memory.
    Store,
}

impl Direction {
    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
        }
    }
}

/// One instruction of a warp. Each lane touches `bytes` bytes from an address on, or is predicated
/// off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WarpAccess {
    direction: Direction,
    bytes: u32,
    lanes: [Option<u64>; LANES],
}

/// The reason why addresses are not a valid access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAnAccess {
    /// No instruction has this width.
    Width {
        /// Requested bytes per lane.
        bytes: u32,
    },
    /// There are more addresses than lanes.
    Lanes {
        /// Smallest possible number of given addresses.
        given: usize,
    },
    /// An address is not a multiple of the access width.
    Misaligned {
        /// The lane.
        lane: usize,
        /// The address of the lane.
        address: u64,
        /// Bytes per lane.
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
    /// Returns the access of `bytes` bytes per lane at byte addresses, from lane 0 on. Lanes
    /// without an address are off.
    ///
    /// # Errors
    /// [`NotAnAccess`] for a width other than 1, 2, 4, 8, and 16, and for more than 32 addresses.
    /// Also for an address that is not a multiple of the width.
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

    /// Returns the direction.
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the bytes per lane.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the byte address of each lane.
    pub const fn lanes(&self) -> &[Option<u64>; LANES] {
        &self.lanes
    }

    /// Returns the number of active lanes.
    pub fn active(&self) -> usize {
        self.lanes.iter().flatten().count()
    }

    /// Returns the numbers of the four-byte words that a lane touches: one, two, or four.
    pub fn words(&self, lane: usize) -> impl Iterator<Item = u64> + use<> {
        let count = u64::from(self.bytes).div_ceil(WORD_BYTES);
        let first = self.lanes.get(lane).copied().flatten().map(|address| address / WORD_BYTES);
        first.into_iter().flat_map(move |first| first..=first + (count - 1))
    }
}
