//! The repack pass: laws of its map, and the copy equals the matrix. Both fail if a mechanism is
//! removed.

use crate::harness::{passes::RepackProgram, prelude::*};
use falchion::internals::codegen::RepackParams;

/// Returns a byte of the matrix. The constants fill the memory around it.
const fn byte(row: u64, column: u64) -> u8 {
    (row.wrapping_mul(131).wrapping_add(column.wrapping_mul(7)) % 251) as u8
}
const BETWEEN: u8 = 252;
const POISON: u8 = 255;

/// A problem, and the address of its first byte.
#[derive(Clone, Copy, Debug)]
struct Case {
    rows: u64,
    row_bytes: u64,
    stride: u64,
    pitch: u64,
    address: u64,
}

impl Case {
    fn random(random: &mut Random) -> Self {
        let rows = random.pick(&[1, 2, 3, 7, 33, 130]);
        let row_bytes: u64 =
            random.pick(&[1, 2, 15, 16, 17, 31, 100, 128, 255, 1000, 4095, 16_390, 20_001]);
        // In every third case, the rows of the source overlap.
        let stride =
            random.pick(&[row_bytes, row_bytes, 0]) + random.pick(&[0, 1, 2, 3, 8, 16, 30]);
        let pitch = row_bytes.next_multiple_of(16) + 16 * random.below(3) as u64;
        Self { rows, row_bytes, stride, pitch, address: random.below(16) as u64 }
    }

    fn shapes(&self) -> RepackShapes {
        RepackShapes::new(self.rows, self.row_bytes, self.stride, self.pitch)
            .expect("a matrix that is not empty")
    }

    /// Returns the bytes of the source, which end with the matrix.
    fn source(&self) -> Vec<u8> {
        let mut source = vec![BETWEEN; ((self.rows - 1) * self.stride + self.row_bytes) as usize];
        for (row, column) in
            (0..self.rows).flat_map(|row| (0..self.row_bytes).map(move |column| (row, column)))
        {
            source[(row * self.stride + column) as usize] = byte(row, column);
        }
        source
    }

    /// Returns whether a program copies every byte of each row, and writes nothing between the rows
    /// beyond the last access.
    fn is_copied_by(&self, program: &RepackProgram) -> bool {
        let (source, mut copy) = (self.source(), vec![POISON; (self.rows * self.pitch) as usize]);
        if program.run(&source, self.address, &mut copy).is_err() {
            return false;
        }
        let written = self.row_bytes.next_multiple_of(16);
        (0..self.rows).all(|row| {
            let line = &copy[(row * self.pitch) as usize..][..self.pitch as usize];
            let of_source = &source[(row * self.stride) as usize..];
            line.iter().zip(&of_source[..self.row_bytes as usize]).all(|(x, y)| x == y)
                && line[written as usize..].iter().all(|&byte| byte == POISON)
        })
    }
}

/// `repack: threads x steps -> lines x pieces` is a bijection for every row width of a tile, and
/// injective if the copy has a larger pitch.
#[test]
fn one_thread_copies_each_piece_in_one_step() {
    for log_pieces in 0..=REPACK.tile().ilog2() {
        let map = RepackMap::new(REPACK, log_pieces, 0);
        assert_eq!(laws::bijective(&map), Ok(()));
        assert_eq!(map.codomain(), REPACK.tile());
        assert_eq!(laws::injective(&RepackMap::new(REPACK, log_pieces, 3)), Ok(()));
    }
}

/// Byte `i` of a piece that begins `b` bytes after an access boundary is byte `b + i` of that
/// access and the next.
#[test]
fn a_piece_is_16_bytes_of_two_accesses() {
    for (beyond, byte) in (0..16).flat_map(|beyond| (0..16).map(move |byte| (beyond, byte))) {
        assert_eq!(Realignment.at(at(beyond, byte)), Some(beyond + byte));
    }
}

/// `copy[r * pitch + c] = source[r * stride + c]` for all rows r and bytes c of a row, for any
/// address of the source. No access touches a byte before the first or after the last byte of the
/// source.
#[test]
fn the_copy_equals_the_matrix() {
    let mut random = Random::new(11);
    for _ in 0..400 {
        let case = Case::random(&mut random);
        assert!(case.is_copied_by(&RepackProgram::new(REPACK, case.shapes())), "{case:?}");
    }
}

/// The law fails if a thread copies another thread's piece, if the second access of a piece is
/// missing, or if accesses at the ends of the matrix are not split.
#[test]
fn the_law_fails_without_its_mechanisms() {
    let mut random = Random::new(12);
    let mut failed = [0; 3];
    for _ in 0..100 {
        let case = Case::random(&mut random);
        let right = RepackProgram::new(REPACK, case.shapes());
        let [mut twice, mut first_alone, mut unguarded] = [right.clone(), right.clone(), right];
        // Thread 0 copies the pieces of thread 1.
        redirect(&mut twice.map, |row, column| (row.max(1), column));
        first_alone.second = false;
        unguarded.guarded = false;
        let wrong = [twice, first_alone, unguarded];
        for (failed, wrong) in failed.iter_mut().zip(&wrong) {
            *failed += u32::from(!case.is_copied_by(wrong));
        }
    }
    assert_eq!(failed[0], 100, "no thread copies the first piece of each tile");
    // Pieces of aligned rows need one access, and aligned ends need no splitting.
    assert!(failed[1..].iter().all(|&failed| failed > 60), "{failed:?}");
}

#[test]
fn misaligned_copies_have_no_shapes() {
    let fine = (3, 100, 101, 112);
    let of = |(rows, row_bytes, stride, pitch)| RepackShapes::new(rows, row_bytes, stride, pitch);
    assert!(of(fine).is_some());
    for wrong in [
        (0, 100, 101, 112),
        (3, 0, 101, 112),
        (3, 100, 101, 104),
        (3, 113, 114, 112),
        (u64::MAX, 100, 101, 112),
        (1 << 32, 100, 1 << 33, 112),
        (1 << 32, 16, 16, 1 << 32),
    ] {
        assert_eq!(of(wrong), None, "{wrong:?}");
    }
    assert!(of((3, 100, 0, 112)).is_some(), "rows of the source may overlap");
}

/// With two copies in one launch, each CTA copies a tile of one matrix, and each tile of both
/// matrices has one CTA.
#[test]
fn one_launch_makes_both_copies() {
    let mut random = Random::new(13);
    for _ in 0..200 {
        let copies = [0u64, 1].map(|number| {
            let case = Case::random(&mut random);
            let addresses = [case.address, (number + 1) << 40];
            let batch =
                PassBatch { matrices: random.pick(&[1, 2, 3]), strides_bytes: [1 << 30, 1 << 31] };
            RepackCopy { shapes: case.shapes(), addresses, batch }
        });
        let launch = REPACK.launch(&copies[0], Some(&copies[1])).expect("a launch");
        let params: RepackParams =
            bytemuck::pod_read_unaligned(&launch.params.0[..size_of::<RepackParams>()]);
        let mut tiles = copies.map(|copy| {
            let (down, across) = copy.shapes.tiles(&REPACK);
            vec![0; (copy.batch.matrices * down * across) as usize]
        });
        for block in 0..launch.grid.clusters {
            let second = usize::from(block >= params.blocks);
            assert_eq!(params.copies[second].destination, copies[second].addresses[1]);
            assert_eq!(params.copies[second].source, copies[second].addresses[0]);
            tiles[second][(block - if second == 1 { params.blocks } else { 0 }) as usize] += 1;
        }
        assert!(tiles.iter().flatten().all(|&times| times == 1), "{copies:?}");
        let of_a_matrix = params.copies.map(|copy| u64::from(copy.tiles));
        assert_eq!(
            of_a_matrix,
            copies.map(|copy| copy.shapes.tiles(&REPACK).0 * copy.shapes.tiles(&REPACK).1)
        );
    }
}
