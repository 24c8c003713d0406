//! Cache of selected configurations. A program repeats few problem sizes, so each selection is
//! reused.

use super::configurations::Configurations;
use crate::{
    arch::Machine,
    nest::{Cut, ProblemSize},
};
use std::sync::Mutex;

/// Index of a configuration. The second member overrides the split-K slices and the decomposition
/// of the configuration.
pub(super) type Choice = (usize, Option<Cut>);

/// Slots of a direct-mapped cache, indexed by a hash of the problem size.
const PLACES: usize = 256;

/// Key of a slot: the candidate configurations, the problem size, and the machine. The key holds
/// the configurations, so their address stays unique.
type ChoiceKey = (Configurations, ProblemSize, Machine);

/// Cache of the selected configurations, indexed by problem size.
pub(super) struct Chosen([Mutex<Option<(ChoiceKey, Choice)>>; PLACES]);

/// Cache that all operations of the process share.
pub(super) static CHOSEN: Chosen = Chosen([const { Mutex::new(None) }; PLACES]);

impl Chosen {
    /// Returns the selected configuration of a problem. On a miss, `choose` selects the
    /// configuration. If another thread holds the slot, `choose` selects the configuration without
    /// waiting.
    pub fn get_or_choose(
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

/// Slot of a problem.
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
    use crate::{arch::ArchKind, nest::DecompositionKind};

    const TWO: Cut = (2, DecompositionKind::SplitK);

    fn nothing() -> Chosen {
        Chosen([const { Mutex::new(None) }; PLACES])
    }

    #[test]
    fn a_problem_is_chosen_once_while_it_holds_its_slot() {
        let (chosen, sizes) =
            (nothing(), [64, 65, 128, 4096].map(|m| ProblemSize::new((m, 256, 1024))));
        let (among, machine) = (Configurations::bf16_configurations(), ArchKind::Sm80.machine());
        let of =
            |size: &ProblemSize, choice| chosen.get_or_choose(&among, size, &machine, || choice);
        for (number, size) in sizes.iter().enumerate() {
            assert_eq!(of(size, (number, Some(TWO))), (number, Some(TWO)));
        }
        let places: std::collections::HashSet<_> = sizes.iter().map(place_of).collect();
        assert_eq!(places.len(), 4);
        for (number, size) in sizes.iter().enumerate() {
            assert_eq!(
                chosen
                    .get_or_choose(&among.clone(), size, &machine, || unreachable!("it is known")),
                (number, Some(TWO))
            );
            // The slot ignores the workspace, the machine, and the configurations. The key
            // compares all of them.
            let other = ProblemSize { workspace: 7, ..*size };
            assert_eq!((place_of(&other), of(&other, (9, None))), (place_of(size), (9, None)));
            assert_eq!(of(size, (number, None)), (number, None));
            assert_eq!(
                chosen.get_or_choose(&among, size, &ArchKind::Sm90.machine(), || (10, None)),
                (10, None)
            );
            assert_eq!(
                chosen.get_or_choose(
                    &Configurations::bf16_configurations(),
                    size,
                    &ArchKind::Sm90.machine(),
                    || (11, None)
                ),
                (11, None)
            );
        }
    }

    #[test]
    fn a_held_slot_does_not_block() {
        let (chosen, size, among) =
            (nothing(), ProblemSize::new((8, 8, 8)), Configurations::bf16_configurations());
        let of = |number| {
            chosen.get_or_choose(&among, &size, &ArchKind::Sm90.machine(), || (number, None))
        };
        let held = chosen.0[place_of(&size)].lock().unwrap();
        assert_eq!(of(3), (3, None));
        drop(held);
        assert_eq!((of(4), of(5)), ((4, None), (4, None)));
    }
}
