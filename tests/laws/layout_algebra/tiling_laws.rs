//! Laws of complements, inverses, divides, products, swizzles and partitions.

use super::random_layouts::{any_layout, bijection, cases, image, injective, matrix, offsets};
use crate::harness::prelude::*;
use falchion::layout::algebra::{Map, Step};
use falchion_lab::layout::tensor::{Tensor, copy, gemm};
use proptest::prelude::*;

/// `(A, B)`.
fn pair(a: &Layout, b: &Layout) -> Layout {
    Layout::concat([a.clone(), b.clone()]).expect("small layouts")
}

fn tiler(m: u64, n: u64) -> Tiler {
    Tiler::extents([m, n].map(Int::dynamic)).expect("extents of 1 and more")
}

proptest! {
    #![proptest_config(cases())]

    /// `R = complement(L, n)` is in order: `R(j) < R(j + 1)`.
    #[test]
    fn a_complement_is_ordered(layout in injective(), n in 1u64..200) {
        let rest = offsets(&layout.complement(n)?);
        prop_assert!(rest.windows(2).all(|pair| pair[0] < pair[1]), "{rest:?}");
    }

    /// L and R share only 0: `R(j) != L(i)` for every `j >= 1`.
    #[test]
    fn a_complement_is_disjoint(layout in injective(), n in 1u64..200) {
        let taken = image(&layout);
        prop_assert!(offsets(&layout.complement(n)?)[1..].iter().all(|offset| taken.binary_search(offset).is_err()));
    }

    /// `(L, R)` reaches every offset below n, and each of its offsets once: it is a bijection onto
    /// the integers below its cosize.
    #[test]
    fn a_layout_and_its_complement_cover(layout in injective(), n in 1u64..200) {
        let whole = pair(&layout, &layout.complement(n)?);
        prop_assert!(whole.cosize() >= n);
        prop_assert_eq!(image(&whole), (0..whole.cosize()).collect::<Vec<_>>());
    }

    /// R has the minimum size: `|R| <= ceil(n / cosize(L)) * cosize(L) / |L|`, with equality if n
    /// is not below the cosize.
    #[test]
    fn a_complement_is_as_small_as_can_be(layout in injective(), periods in 1u64..5) {
        let rest = layout.complement(layout.complement(1)?.size() * layout.size() * periods)?;
        prop_assert_eq!(rest.size(), layout.complement(1)?.size() * periods);
    }

    /// The complement of the complement is the layout in ascending order, if n is a multiple of the
    /// size of `(L, R)`.
    #[test]
    fn a_complement_undoes_itself(layout in injective(), periods in 1u64..4) {
        let covered = pair(&layout, &layout.complement(1)?).cosize() * periods;
        let twice = layout.complement(covered)?.complement(covered)?;
        prop_assert_eq!(offsets(&twice), image(&layout));
    }

    /// A complement is refused only if the strides do not nest: some stride is not a multiple of
    /// the end of the smaller modes.
    #[test]
    fn a_complement_is_refused_for_a_divisibility(layout in any_layout(), n in 1u64..200) {
        let modes = layout.leaves().into_iter().map(|leaf| (leaf.stride.value, leaf.extent.value));
        let mut modes: Vec<(u64, u64)> = modes.filter(|(d, s)| *d > 0 && *s > 1).collect();
        modes.sort_unstable();
        let nests = modes.windows(2).all(|pair| pair[1].0 % (pair[0].0 * pair[0].1) == 0);
        match layout.complement(n) {
            Ok(_) => prop_assert!(nests),
            Err(LayoutError::ComplementDivisibility { stride, filled, nearest }) => {
                prop_assert!(!nests && stride % filled != 0 && nearest % filled == 0);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// `L(right_inverse(L)(i)) = i` for every i of the inverse.
    #[test]
    fn a_right_inverse_comes_first(layout in any_layout()) {
        for (i, coordinate) in offsets(&layout.right_inverse()).into_iter().enumerate() {
            prop_assert_eq!(layout.offset(coordinate)?, i as u64);
        }
    }

    /// `left_inverse(L)(L(i)) = i` for every i of L.
    #[test]
    fn a_left_inverse_comes_last(layout in injective()) {
        let inverse = layout.left_inverse()?;
        for (i, offset) in offsets(&layout).into_iter().enumerate() {
            prop_assert_eq!(inverse.offset(offset)?, i as u64);
        }
    }

    /// A bijection has one inverse, both left and right, and is the inverse of its inverse.
    #[test]
    fn a_bijection_has_one_inverse(layout in bijection()) {
        let inverse = layout.left_inverse()?;
        prop_assert_eq!(offsets(&inverse), offsets(&layout.right_inverse()));
        prop_assert_eq!(offsets(&inverse.left_inverse()?), offsets(&layout));
    }

    /// A left inverse exists only for injections. A refusal names two integers with one offset.
    #[test]
    fn a_left_inverse_of_a_noninjective_layout_is_refused(layout in any_layout()) {
        let injective = image(&layout).windows(2).all(|pair| pair[0] < pair[1]);
        match layout.left_inverse() {
            Ok(_) => prop_assert!(injective),
            Err(LayoutError::NotInjective { first, second, offset }) => {
                prop_assert!(first < second && layout.offset(first)? == offset && layout.offset(second)? == offset);
            }
            Err(_) => prop_assert!(injective && layout.complement(layout.cosize()).is_err()),
        }
    }

    /// `logical_divide(A, B)`, flattened, has the offsets of A with the same multiplicities, if B
    /// and its complement cover A exactly.
    #[test]
    fn dividing_permutes_the_offsets(a in any_layout(), b in injective()) {
        let whole = pair(&b, &b.complement(a.size())?);
        prop_assume!(whole.cosize() == a.size());
        if let Ok(divided) = a.logical_divide(&b.into()) {
            prop_assert_eq!(image(&divided.flatten()), image(&a));
        }
    }

    /// Dividing a bijection gives a bijection.
    #[test]
    fn dividing_a_bijection_gives_one(a in matrix(), m in 0usize..2, n in 0usize..2) {
        let divided = a.logical_divide(&tiler([2, 4][m], [2, 4][n]))?;
        prop_assert_eq!(image(&divided), (0..a.size()).collect::<Vec<_>>());
    }

    /// The first mode of `zipped_divide(A, T)` is `A o T`, and each mode equals that of
    /// `logical_divide`.
    #[test]
    fn the_tile_is_the_composition(a in matrix(), m in 0usize..2, n in 0usize..2) {
        let tile = tiler([2, 4][m], [2, 4][n]);
        let (zipped, divided) = (a.zipped_divide(&tile)?, a.logical_divide(&tile)?);
        prop_assert_eq!(&zipped.modes()[0], &a.compose_by(&tile)?);
        let firsts: Vec<_> = divided.modes().iter().map(|mode| mode.modes()[0].clone()).collect();
        prop_assert_eq!(zipped.modes()[0].modes(), firsts);
    }

    /// `tiled_divide(A, T)` is the function of `zipped_divide(A, T)` with the remaining modes
    /// unpacked.
    #[test]
    fn tiled_divide_equals_unpacked_zipped_divide(a in matrix(), m in 0usize..2, n in 0usize..2) {
        let tile = tiler([2, 4][m], [2, 4][n]);
        let (zipped, tiled) = (a.zipped_divide(&tile)?, a.tiled_divide(&tile)?);
        prop_assert_eq!(offsets(&tiled), offsets(&zipped));
        prop_assert_eq!(&tiled.modes()[1..], zipped.modes()[1].modes());
    }

    /// `logical_product(A, B) = (A, A* o B)`: one copy of A per coordinate of B. The copies are
    /// disjoint if A and B are injective.
    #[test]
    fn a_product_consists_of_disjoint_copies(a in injective(), b in injective()) {
        if let Ok(product) = a.logical_product(&b.clone().into()) {
            prop_assert_eq!(&product.modes()[0], &a);
            prop_assert_eq!(product.size(), a.size() * b.size());
            prop_assert!(image(&product).windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    /// A product of bijections is a bijection.
    #[test]
    fn a_product_of_bijections_is_one(a in bijection(), b in bijection()) {
        let product = a.logical_product(&b.into())?;
        prop_assert_eq!(image(&product), (0..product.size()).collect::<Vec<_>>());
    }

    /// `blocked((ia + |A_0| ib, ja + |A_1| jb)) = product((ia, ja), (ib, jb)) = raked((ib + |B_0|
    /// ia, jb + |B_1| ja))`.
    #[test]
    fn blocked_and_raked_reorder_the_product(a in matrix(), b in matrix(), i in any::<u64>(), j in any::<u64>()) {
        let product = a.logical_product(&b.clone().into())?;
        let [(ia, ja), (ib, jb)] = [&a, &b].map(|l| (i % l.modes()[0].size(), j % l.modes()[1].size()));
        let [(am, an), (bm, bn)] = [&a, &b].map(|l| (l.modes()[0].size(), l.modes()[1].size()));
        let both = Coordinate::Tuple(vec![[ia, ja].into(), [ib, jb].into()]);
        let expected = product.offset(both)?;
        prop_assert_eq!(a.blocked_product(&b)?.offset([ia + am * ib, ja + an * jb])?, expected);
        prop_assert_eq!(a.raked_product(&b)?.offset([ib + bm * ia, jb + bn * ja])?, expected);
    }

    /// `zipped_product` and `tiled_product` by mode have the offsets of `logical_product` by mode.
    #[test]
    fn products_by_mode_are_regrouped(a in matrix(), m in 1u64..5, n in 1u64..5) {
        let by = tiler(m, n);
        let product = image(&a.logical_product(&by)?);
        prop_assert_eq!(&image(&a.zipped_product(&by)?), &product);
        prop_assert_eq!(&image(&a.tiled_product(&by)?), &product);
    }

    /// `s(s(x)) = x`, and s changes the bits `[M, M+B)` only.
    #[test]
    fn a_swizzle_is_an_involution(bits in 0u32..6, base in 0u32..8, more in 0u32..6, x in any::<u64>()) {
        let swizzle = Swizzle::new(bits, base, bits + more)?;
        prop_assert_eq!(swizzle.at(swizzle.at(x)), x);
        prop_assert_eq!((swizzle.at(x) ^ x) & !(((1 << bits) - 1) << base), 0);
    }

    /// s permutes the integers below `2^(B+M+S)`, and `(s o offset o L)(c) = s(offset + L(c))` is
    /// below its cosize.
    #[test]
    fn a_swizzle_is_a_bijection(bits in 0u32..3, base in 0u32..3, more in 0u32..2, layout in bijection(), offset in 0u64..64) {
        let swizzle = Swizzle::new(bits, base, bits + more)?;
        let all = 1u64 << (2 * bits + base + more);
        let mut there: Vec<u64> = (0..all).map(|x| swizzle.at(x)).collect();
        there.sort_unstable();
        prop_assert_eq!(there, (0..all).collect::<Vec<_>>());
        let composed = Composed::new(swizzle, offset.into(), layout.clone())?;
        for c in 0..layout.size() {
            let at = composed.offset(c)?;
            prop_assert!(at == swizzle.at(offset + layout.offset(c)?) && at < composed.cosize());
        }
    }

    /// Tiles cover the matrix: over all coordinates `local_tile` gives each offset once.
    #[test]
    fn local_tiles_are_a_partition(a in matrix(), m in 0usize..2, n in 0usize..2) {
        let (m, n) = ([2, 4][m], [2, 4][n]);
        let mut seen = Vec::new();
        for i in 0..a.modes()[0].size() / m {
            for j in 0..a.modes()[1].size() / n {
                let (tile, offset) = a.local_tile(&tiler(m, n), &[i, j].into())?;
                seen.extend(offsets(&tile).into_iter().map(|at| at + offset));
            }
        }
        seen.sort_unstable();
        prop_assert_eq!(seen, image(&a));
    }

    /// Threads partition the matrix: over all threads, `local_partition` gives each offset once.
    /// With a projection, it gives each offset once per thread of the other mode.
    #[test]
    fn local_partitions_are_a_partition(a in matrix(), m in 0usize..2, n in 0usize..2, row_major in any::<bool>()) {
        let (m, n) = ([2, 4][m], [2, 4][n]);
        let threads = Layout::new([m, n], if row_major { [n, 1] } else { [1, m] })?;
        for (steps, times) in [([Step::Take, Step::Take], 1), ([Step::Take, Step::Skip], n)] {
            let mut seen = Vec::new();
            for thread in 0..threads.size() {
                let (part, offset) = a.local_partition_by(&threads, thread, &steps)?;
                seen.extend(offsets(&part).into_iter().map(|at| at + offset));
            }
            seen.sort_unstable();
            let expected: Vec<u64> = image(&a).into_iter().flat_map(|at| vec![at; times as usize]).collect();
            prop_assert_eq!(seen, expected);
        }
    }

    /// `thread_value(T)(t, v)` is element `v` of `local_partition(T, t)`, with its offset, for
    /// every thread. Threads with gaps in their numbers have no such layout.
    #[test]
    fn a_thread_value_layout_is_every_threads_partition(a in matrix(), m in 0usize..2, n in 0usize..2, row_major in any::<bool>()) {
        let (m, n) = ([2, 4][m], [2, 4][n]);
        let threads = Layout::new([m, n], if row_major { [n, 1] } else { [1, m] })?;
        for steps in [[Step::Take, Step::Take], [Step::Take, Step::Skip], [Step::Skip, Step::Take]] {
            let whole = a.thread_value(&threads, &steps)?;
            for thread in 0..threads.size() {
                let (values, begin) = whole.slice(&Coordinate::Tuple(vec![Coordinate::At(thread), Coordinate::All]))?;
                let values = values.expect("values").modes()[0].clone();
                prop_assert_eq!((values, begin), a.local_partition_by(&threads, thread, &steps)?);
            }
        }
        let gaps = Layout::new([m, n], [2, 2 * m])?;
        let refused = matches!(a.thread_value(&gaps, &[Step::Take; 2]), Err(LayoutError::SizesDiffer { left, .. }) if left == m * n);
        prop_assert!(refused);
    }

    /// `copy(A, B)` makes `B(i) = A(i)` for every integer i, for any two layouts.
    #[test]
    fn a_copy_is_element_by_element(a in bijection(), row in any::<bool>()) {
        let elements: Vec<u64> = (0..a.size()).map(|at| at * 7 + 1).collect();
        let mut copied = vec![0; a.size() as usize];
        let to = if row { a.clone() } else { Layout::new(a.size(), 1)? };
        let from = Tensor::new(&elements[..], a.clone())?;
        copy(&from, &mut Tensor::new(&mut copied[..], to.clone())?)?;
        for i in 0..a.size() {
            prop_assert_eq!(copied[to.offset(i)? as usize], elements[a.offset(i)? as usize]);
        }
    }

    /// `gemm(A, B, C)` adds `sum over k of A(m,k) B(n,k)` to `C(m,n)` through the layouts of all
    /// three.
    #[test]
    fn gemm_is_the_sum_of_products(k in 1u64..4, seed in any::<i64>(), row in any::<bool>()) {
        let order = |m: u64, n: u64| Layout::new([m, n], if row { [n, 1] } else { [1, m] });
        let (la, lb, lc) = (order(2, k)?, order(3, k)?, order(2, 3)?);
        let draw = |n: u64| (0..n as i64).map(|i| (seed >> (i % 60)) % 11).collect::<Vec<i64>>();
        let (a, b, mut c) = (draw(la.size()), draw(lb.size()), draw(lc.size()));
        let before = c.clone();
        gemm(&Tensor::new(&a[..], la.clone())?, &Tensor::new(&b[..], lb.clone())?, &mut Tensor::new(&mut c[..], lc.clone())?)?;
        for (m, n) in (0..2).flat_map(|m| (0..3).map(move |n| (m, n))) {
            let at = lc.offset([m, n])? as usize;
            let mut sum = before[at];
            for l in 0..k {
                sum += a[la.offset([m, l])? as usize] * b[lb.offset([n, l])? as usize];
            }
            prop_assert_eq!(c[at], sum);
        }
    }

    /// The map of a layout is the layout: `map(row, column) = L((row, column))` over the whole
    /// domain.
    #[test]
    fn a_map_equals_its_layout(a in matrix()) {
        let map = Map::new(&a)?;
        prop_assert_eq!(u64::from(map.codomain()), a.cosize());
        for point in points(&map) {
            prop_assert_eq!(map.at(point).map(u64::from), Some(a.offset([point.row.into(), point.column.into()])?));
        }
    }
}
