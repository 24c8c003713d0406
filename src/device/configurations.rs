//! The configurations that a problem selects from: fixed ones, or those of each GPU's architecture.

use crate::{
    arch::{ArchKind, Machine},
    nest::{Completions, Target, TypedRequest},
    refusal::Refusal,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

/// The candidate configurations of an operator.
#[derive(Clone, Debug)]
pub(super) enum Configurations {
    /// Candidates that the compiler resolves.
    Constant(&'static Candidates),
    /// Candidates that the program resolves at run time.
    Computed(Arc<(Candidates, PerArch)>),
}

/// The configurations of a request without a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidates {
    /// The configurations of the architecture that the request names, or those of the host.
    pub completions: Completions,
    /// The request that each GPU resolves for itself. `None` if the architecture is fixed.
    pub native: Option<TypedRequest>,
}

/// The configurations of each architecture, resolved at first use.
type PerArch = [OnceLock<Configurations>; ArchKind::ALL.len()];

impl Candidates {
    /// Candidates of one architecture only.
    pub const fn fixed(completions: Completions) -> Self {
        Self { completions, native: None }
    }

    /// Candidates of a request whose configurations without a machine are `completions`.
    pub const fn from_request(request: TypedRequest, completions: Completions) -> Self {
        let native = if request.arch.is_none() { Some(request) } else { None };
        Self { completions, native }
    }
}

impl Configurations {
    /// Shares candidates that the program resolved at run time.
    pub fn computed(candidates: Candidates) -> Self {
        Self::Computed(Arc::new((candidates, PerArch::default())))
    }

    fn candidates(&self) -> &Candidates {
        match self {
            Self::Constant(candidates) => candidates,
            Self::Computed(computed) => &computed.0,
        }
    }

    /// Returns the configurations without a machine.
    pub fn completions(&self) -> &Completions {
        &self.candidates().completions
    }

    /// Returns `true` if both are the same object in memory.
    pub fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.candidates(), other.candidates())
    }

    /// Returns `true` if the configurations depend on the machine.
    pub fn are_native(&self) -> bool {
        self.candidates().native.is_some()
    }

    /// Returns the configurations on a machine, or on the host for `None`.
    ///
    /// # Errors
    /// A [`Refusal`] if no units of the machine multiply the types.
    pub fn on(&self, machine: Option<&Machine>) -> Result<&Self, Refusal> {
        let (Some(request), Some(machine)) = (&self.candidates().native, machine) else {
            return Ok(self);
        };
        let arch = ArchKind::newest_of(machine.sm).unwrap_or(ArchKind::Sm70);
        let known = &self.per_arch()[arch as usize];
        if let Some(known) = known.get() {
            return Ok(known);
        }
        let completions =
            request.completions(Target::Gpu(arch)).map_err(|unresolved| unresolved.because)?;
        Ok(known.get_or_init(|| Self::computed(Candidates::fixed(completions))))
    }

    /// Constant candidates have their cells in a table of the process, because a generic type has
    /// no `static` of its own.
    fn per_arch(&self) -> &PerArch {
        static CONSTANT: RwLock<BTreeMap<usize, &'static PerArch>> = RwLock::new(BTreeMap::new());
        let address = match self {
            Self::Computed(computed) => return &computed.1,
            Self::Constant(candidates) => core::ptr::from_ref(*candidates).addr(),
        };
        if let Some(known) = CONSTANT.read().unwrap_or_else(PoisonError::into_inner).get(&address) {
            return known;
        }
        let mut known = CONSTANT.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(address).or_insert_with(|| Box::leak(Box::default()))
    }
}
