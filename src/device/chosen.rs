//! The choices that are remembered: a program has few problems, and each of them often.

use super::operation::Configurations;
use crate::{arch::Machine, desc::Cut, family::ProblemSize};
use std::sync::Mutex;

/// The number of a configuration, and into how many parts it cuts K, and who adds them, where those
/// are others than it has.
pub(super) type Choice = (usize, Option<Cut>);

/// Places for problems, each of which has one of them by its size: the last one that had it is
/// remembered.
const PLACES: usize = 256;

/// What is chosen for: among which configurations, which keep their address for as long as they are
/// remembered, for what problem, and on which machine.
type Asked = (Configurations, ProblemSize, Machine);

/// What was chosen for problems.
pub(super) struct Chosen([Mutex<Option<(Asked, Choice)>>; PLACES]);

/// By all operations of the process.
pub(super) static CHOSEN: Chosen = Chosen([const { Mutex::new(None) }; PLACES]);

impl Chosen {
    /// The choice for a problem, made by `choose` where it is not remembered. Where another thread
    /// looks at its place, nobody waits.
    pub fn of(
        &self,
        among: &Configurations,
        size: &ProblemSize,
        machine: &Machine,
        choose: impl FnOnce() -> Choice,
    ) -> Choice {
        let Ok(mut place) = self.0[place_of(size)].try_lock() else { return choose() };
        match &*place {
            Some(((of, known, on), choice)) if known == size && on == machine && of.is(among) => {
                *choice
            }
            _ => place.insert(((among.clone(), *size, *machine), choose())).1,
        }
    }
}

/// The place of a problem.
fn place_of(size: &ProblemSize) -> usize {
    let (m, n, k) = size.extents;
    let mixed = [m, n, k, size.batch].iter().fold(0u64, |mixed, &x| {
        (mixed ^ x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    (mixed % PLACES as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arch::ArchKind, desc::DecompositionKind};

    const TWO: Cut = (2, DecompositionKind::SplitK);

    fn nothing() -> Chosen {
        Chosen([const { Mutex::new(None) }; PLACES])
    }

    #[test]
    fn each_problem_is_chosen_for_once_while_it_has_its_place() {
        let (chosen, sizes) =
            (nothing(), [64, 65, 128, 4096].map(|m| ProblemSize::of((m, 256, 1024))));
        let (among, machine) = (Configurations::of_f32(), ArchKind::Sm80.machine());
        let of = |size: &ProblemSize, choice| chosen.of(&among, size, &machine, || choice);
        for (number, size) in sizes.iter().enumerate() {
            assert_eq!(of(size, (number, Some(TWO))), (number, Some(TWO)));
        }
        let places: std::collections::HashSet<_> = sizes.iter().map(place_of).collect();
        assert_eq!(places.len(), 4);
        for (number, size) in sizes.iter().enumerate() {
            assert_eq!(
                chosen.of(&among.clone(), size, &machine, || unreachable!("it is known")),
                (number, Some(TWO))
            );
            // Another workspace is another problem in the same place, and so are another machine
            // and other configurations.
            let other = ProblemSize { workspace: 7, ..*size };
            assert_eq!((place_of(&other), of(&other, (9, None))), (place_of(size), (9, None)));
            assert_eq!(of(size, (number, None)), (number, None));
            assert_eq!(
                chosen.of(&among, size, &ArchKind::Sm90.machine(), || (10, None)),
                (10, None)
            );
            assert_eq!(
                chosen
                    .of(&Configurations::of_f32(), size, &ArchKind::Sm90.machine(), || (11, None)),
                (11, None)
            );
        }
    }

    #[test]
    fn nobody_waits() {
        let (chosen, size, among) =
            (nothing(), ProblemSize::of((8, 8, 8)), Configurations::of_f32());
        let of = |number| chosen.of(&among, &size, &ArchKind::Sm90.machine(), || (number, None));
        let held = chosen.0[place_of(&size)].lock().unwrap();
        assert_eq!(of(3), (3, None));
        drop(held);
        assert_eq!((of(4), of(5)), ((4, None), (4, None)));
    }
}
