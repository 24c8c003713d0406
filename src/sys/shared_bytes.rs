//! Bytes of an output that several threads of the host executor write.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Bytes in host memory, which their owner has lent exclusively, and which threads share.
#[derive(Clone, Copy, Debug)]
pub struct SharedBytes<'a>(&'a [AtomicU8]);

impl<'a> SharedBytes<'a> {
    /// Shares bytes among threads.
    pub(crate) fn new(bytes: &'a mut [u8]) -> Self {
        // SAFETY: the borrow is exclusive and lasts for 'a. AtomicU8 has the size, the alignment,
        // and the valid values of u8.
        Self(unsafe { &*(core::ptr::from_mut(bytes) as *const [AtomicU8]) })
    }

    /// Returns no bytes.
    pub(crate) const fn empty() -> Self {
        Self(&[])
    }

    /// Returns the number of bytes.
    pub(crate) const fn length(&self) -> usize {
        self.0.len()
    }

    /// Returns the address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.0.as_ptr() as u64
    }

    /// Returns the bytes from byte `first` on, or no bytes beyond the end.
    pub(crate) fn from(self, first: usize) -> Self {
        Self(self.0.get(first..).unwrap_or_default())
    }

    /// Returns a copy of the bytes.
    pub fn to_vec(self) -> Vec<u8> {
        self.0.iter().map(|byte| byte.load(Relaxed)).collect()
    }

    /// Writes bytes from byte `first` on. Writes nothing if they reach beyond the end.
    pub fn write(&self, first: usize, bytes: &[u8]) {
        let places = self.0.get(first..).and_then(|places| places.get(..bytes.len()));
        places.into_iter().flatten().zip(bytes).for_each(|(to, byte)| to.store(*byte, Relaxed));
    }

    /// Writes zeros to the first `count` bytes, or to all bytes if there are fewer.
    pub(crate) fn clear(&self, count: usize) {
        self.0.iter().take(count).for_each(|byte| byte.store(0, Relaxed));
    }

    /// Replaces the unsigned number of 4 bytes at byte `first` by the maximum of it and `number`.
    /// Does nothing if the number is not aligned, or reaches beyond the end.
    pub(crate) fn maximum_u32(&self, first: usize, number: u32) {
        if let Some(place) = self.number_at(first, align_of::<AtomicU32>()) {
            // SAFETY: the address is aligned, and its 4 bytes are within the slice. They are atomic
            // for 'a, and threads access a number only with its own size.
            unsafe { AtomicU32::from_ptr(place.cast()) }.fetch_max(number, Relaxed);
        }
    }

    /// Replaces an unsigned number of 8 bytes, as [`maximum_u32`](Self::maximum_u32) does.
    pub(crate) fn maximum_u64(&self, first: usize, number: u64) {
        if let Some(place) = self.number_at(first, align_of::<AtomicU64>()) {
            // SAFETY: as in `maximum_u32`, with 8 bytes.
            unsafe { AtomicU64::from_ptr(place.cast()) }.fetch_max(number, Relaxed);
        }
    }

    /// Returns the address of the number of `size` bytes at byte `first`, if it is aligned and
    /// within the slice.
    fn number_at(&self, first: usize, size: usize) -> Option<*mut u8> {
        let bytes = self.0.get(first..).filter(|bytes| bytes.len() >= size)?;
        let place = bytes.as_ptr().cast::<u8>().cast_mut();
        (place as usize).is_multiple_of(size).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::SharedBytes;

    #[test]
    fn threads_write_elements_and_maxima() {
        let mut numbers = [0u32; 4];
        let bytes = SharedBytes::new(bytemuck::cast_slice_mut(&mut numbers));
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                scope.spawn(move || {
                    bytes.maximum_u32(0, thread + 7);
                    bytes.write(4 + 3 * thread as usize, &[thread as u8; 3]);
                });
            }
        });
        bytes.maximum_u32(14, 9);
        bytes.maximum_u32(1, 9);
        bytes.write(15, &[1, 1]);
        assert_eq!(numbers[0], 10);
        let written: &[u8] = bytemuck::cast_slice(&numbers[1..]);
        assert_eq!(written, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
        let mut long = [5u64, 0];
        let bytes = SharedBytes::new(bytemuck::cast_slice_mut(&mut long));
        bytes.maximum_u64(0, u64::MAX - 1);
        bytes.from(8).maximum_u64(0, 3);
        bytes.from(16).maximum_u64(0, 3);
        assert_eq!(long, [u64::MAX - 1, 3]);
    }
}
