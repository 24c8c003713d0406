//! Partitioning: tiles for CTAs, and elements for threads.

use super::{Coordinate, Int, IntTuple, Layout, LayoutError, Tiler};

/// Member of CuTe's `Step<_1,X,..>`: whether a mode takes part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// `_1`: the mode takes part.
    Take,
    /// `X`: the mode does not take part.
    Skip,
}

impl Step {
    /// Returns the members whose modes take part.
    ///
    /// # Errors
    /// [`LayoutError::SizesDiffer`] if the projection and the members differ in length.
    /// [`LayoutError::EmptyTuple`] if no mode takes part.
    fn project<T: Clone>(steps: &[Self], members: &[T]) -> Result<Vec<T>, LayoutError> {
        if steps.len() != members.len() {
            return Err(LayoutError::SizesDiffer {
                what: "the ranks of Step and of what it projects",
                left: steps.len() as u64,
                right: members.len() as u64,
            });
        }
        let taken: Vec<T> = steps
            .iter()
            .zip(members)
            .filter(|(step, _)| **step == Self::Take)
            .map(|(_, member)| member.clone())
            .collect();
        if taken.is_empty() { Err(LayoutError::EmptyTuple) } else { Ok(taken) }
    }
}

impl Layout {
    /// `local_tile`: returns the tile `(BLK_M,BLK_N,..)` at `coordinate` and its offset. For each
    /// `_` in the coordinate, a mode with all tiles along that axis follows.
    ///
    /// # Errors
    /// The errors of [`zipped_divide`](Self::zipped_divide) and [`slice`](Self::slice).
    ///
    /// ```
    /// # use falchion_layout::{Coordinate, Int, Layout, Tiler};
    /// let matrix: Layout = "(1024,8192):(_1,1024)".parse()?;
    /// let tiles = Tiler::extents([64, 16].map(Int::fixed))?;
    /// let row = Coordinate::Tuple(vec![Coordinate::At(2), Coordinate::All]);
    /// let (tile, offset) = matrix.local_tile(&tiles, &row)?;
    /// assert_eq!((tile.to_string(), offset), ("(_64,_16,512):(_1,1024,16384)".into(), 128));
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn local_tile(
        &self,
        tiler: &Tiler,
        coordinate: &Coordinate,
    ) -> Result<(Self, u64), LayoutError> {
        let tiled = self.zipped_divide(tiler)?;
        let tile = match tiler {
            Tiler::Tuple(members) => Coordinate::Tuple(vec![Coordinate::All; members.len()]),
            _ => Coordinate::All,
        };
        tiled.sliced(Coordinate::Tuple(vec![tile, tiled.filled(coordinate)]))
    }

    /// `local_partition`: returns the elements of thread `thread` and the offset of its first
    /// element. The layout `threads` covers this layout repeatedly, and the modes of the result
    /// count the repetitions.
    ///
    /// # Errors
    /// The errors of [`zipped_divide`](Self::zipped_divide) and
    /// [`left_inverse`](Self::left_inverse). [`LayoutError::NoSuchThread`] if `threads` does not
    /// contain `thread`.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// let (tile, threads): (Layout, Layout) = ("(_64,_16):(_1,_64)".parse()?, "(_64,_1)".parse()?);
    /// let (part, offset) = tile.local_partition(&threads, 5)?;
    /// assert_eq!((part.to_string(), offset), ("(_1,_16):(_0,_64)".into(), 5));
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn local_partition(&self, threads: &Self, thread: u64) -> Result<(Self, u64), LayoutError> {
        self.local_partition_by(threads, thread, &vec![Step::Take; threads.rank()])
    }

    /// Applies [`local_partition`](Self::local_partition) with the modes of `threads` that take
    /// part. Threads that differ only in other modes receive the same elements.
    ///
    /// # Errors
    /// The errors of [`local_partition`](Self::local_partition). [`LayoutError::SizesDiffer`] if
    /// the length of the projection is not the rank of `threads`.
    ///
    /// ```
    /// # use falchion_layout::{Layout, Step};
    /// let (tile, threads): (Layout, Layout) = ("(_64,_16):(_1,_64)".parse()?, "(_8,_8)".parse()?);
    /// let (rows, offset) = tile.local_partition_by(&threads, 19, &[Step::Take, Step::Skip])?;
    /// assert_eq!((rows.to_string(), offset), ("(_8,_16):(_8,_64)".into(), 3));
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn local_partition_by(
        &self,
        threads: &Self,
        thread: u64,
        steps: &[Step],
    ) -> Result<(Self, u64), LayoutError> {
        let place = Self::compact(&IntTuple::Tuple(threads.extents()))?
            .coordinate(threads.place_of(thread)?)?;
        let Coordinate::Tuple(place) = place else { return Err(LayoutError::EmptyTuple) };
        let tiled = self.tiled_by(threads, steps)?;
        let rest = Coordinate::Tuple(vec![Coordinate::All; tiled.modes()[1].rank()]);
        tiled
            .sliced(Coordinate::Tuple(vec![Coordinate::Tuple(Step::project(steps, &place)?), rest]))
    }

    /// Returns the thread-value layout of [`local_partition_by`](Self::local_partition_by). Its
    /// first mode maps a thread to the offset of its first element. Its second mode maps a value to
    /// its offset from there. A slice at a thread is the partition of the thread.
    ///
    /// # Errors
    /// The errors of [`local_partition_by`](Self::local_partition_by). [`LayoutError::SizesDiffer`]
    /// if the numbers of the threads have gaps.
    ///
    /// ```
    /// # use falchion_layout::{Layout, Step};
    /// let (tile, threads): (Layout, Layout) = ("(_64,_16):(_1,_64)".parse()?, "(_8,_8)".parse()?);
    /// let columns = tile.thread_value(&threads, &[Step::Skip, Step::Take])?;
    /// assert_eq!(columns.to_string(), "((_8,_8),(_8,_16)):((_0,_1),(_8,_64))");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn thread_value(&self, threads: &Self, steps: &[Step]) -> Result<Self, LayoutError> {
        let (left, right) = (threads.size(), threads.cosize());
        if left != right {
            return Err(LayoutError::SizesDiffer {
                what: "the size and the cosize of the layout of threads",
                left,
                right,
            });
        }
        let tiled = self.tiled_by(threads, steps)?;
        // Along the modes that take part, a thread's offset changes. Along the other modes, it does
        // not.
        let mut taken = tiled.modes()[0].modes().iter();
        let places = steps.iter().zip(threads.modes()).map(|(step, mode)| match step {
            Step::Take => taken.next().cloned().ok_or(LayoutError::EmptyTuple),
            Step::Skip => Ok(Self::mode_of(mode.size_int(), Int::fixed(0))),
        });
        let places = Self::concat(places.collect::<Result<Vec<_>, _>>()?)?;
        Self::concat([places.compose(&threads.left_inverse()?)?, tiled.modes()[1].clone()])
    }

    /// Returns the number of coordinates of each mode.
    fn extents(&self) -> Vec<IntTuple> {
        self.modes().iter().map(|mode| IntTuple::Int(mode.size_int())).collect()
    }

    /// Divides the layout by the modes of `threads` that take part. The first mode of the result
    /// counts threads, and the second mode counts the values of a thread.
    fn tiled_by(&self, threads: &Self, steps: &[Step]) -> Result<Self, LayoutError> {
        self.zipped_divide(&Tiler::shape(&IntTuple::Tuple(Step::project(
            steps,
            &threads.extents(),
        )?))?)
    }

    /// Returns the index that a layout of threads maps to `thread`.
    fn place_of(&self, thread: u64) -> Result<u64, LayoutError> {
        let missing = LayoutError::NoSuchThread { thread, threads: self.to_string() };
        let place = self.left_inverse()?.extended(thread)?;
        if place < self.size() && self.extended(place)? == thread {
            Ok(place)
        } else {
            Err(missing)
        }
    }

    /// Extends a coordinate of the rest of a division with `_` for the modes beyond the tiler.
    fn filled(&self, coordinate: &Coordinate) -> Coordinate {
        match coordinate {
            Coordinate::Tuple(members) => {
                let mut members = members.clone();
                members.resize(members.len().max(self.modes()[1].rank()), Coordinate::All);
                Coordinate::Tuple(members)
            }
            other => other.clone(),
        }
    }

    fn sliced(&self, coordinate: Coordinate) -> Result<(Self, u64), LayoutError> {
        let (layout, offset) = self.slice(&coordinate)?;
        layout.map(|layout| (layout, offset)).ok_or(LayoutError::EmptyTuple)
    }
}
