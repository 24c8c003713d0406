//! The configurations that a problem selects from: fixed ones, or those of each GPU's architecture.
//!
//! The compiler resolves the first configuration of a type. The others are computed when a program
//! first needs them.

use crate::{
    arch::{ArchKind, Machine},
    layout::Orders,
    nest::{Completions, GemmDesc, Target, TypedRequest},
    numeric::Combined,
    refusal::Refusal,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

/// The candidate configurations of an operator.
#[derive(Clone, Debug)]
pub(super) enum Configurations {
    /// Candidates whose first the compiler resolves.
    Constant(&'static Candidates),
    /// Candidates that the program resolves at run time.
    Computed(Arc<(Candidates, Cells)>),
}

/// The configurations of a request without a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidates {
    /// The first configuration of the architecture that the request names, or of the host.
    first: GemmDesc,
    /// The request that has the other configurations. `None` if the first is the only one.
    request: Option<TypedRequest>,
    /// Whether each GPU resolves the request for itself.
    native: bool,
}

/// The configurations of a request, each resolved at first use.
#[derive(Debug, Default)]
pub(super) struct Cells {
    without_machine: OnceLock<Completions>,
    /// The configurations of each architecture.
    per_arch: [OnceLock<Configurations>; ArchKind::ALL.len()],
}

impl Candidates {
    /// Returns a description as the only candidate.
    pub const fn fixed(first: GemmDesc) -> Self {
        Self { first, request: None, native: false }
    }

    /// Candidates of a request whose first configuration without a machine is `first`.
    pub const fn from_request(request: TypedRequest, first: GemmDesc) -> Self {
        Self { first, native: request.arch.is_none(), request: Some(request) }
    }

    /// Returns all candidates.
    fn completed(&self) -> Completions {
        let all =
            |request: TypedRequest| request.complete_units(self.first.op(), self.first.arch).ok();
        self.request.and_then(all).unwrap_or_else(|| Completions::from_first(self.first))
    }
}

impl Configurations {
    /// Shares candidates that the program resolved at run time.
    pub fn computed(candidates: Candidates) -> Self {
        Self::Computed(Arc::new((candidates, Cells::default())))
    }

    fn candidates(&self) -> &Candidates {
        match self {
            Self::Constant(candidates) => candidates,
            Self::Computed(computed) => &computed.0,
        }
    }

    /// Returns the first configuration without a machine.
    pub fn first(&self) -> GemmDesc {
        self.candidates().first
    }

    /// Returns the element types of A, B, C, and the accumulator in the user's frame.
    pub fn types(&self) -> Combined {
        self.candidates().first.user_types()
    }

    /// Returns the orders of A, B, and C in the user's frame.
    pub fn orders(&self) -> Orders {
        self.candidates().first.orders()
    }

    /// Returns the configurations without a machine.
    pub fn completions(&self) -> &Completions {
        self.cells().without_machine.get_or_init(|| self.candidates().completed())
    }

    /// Returns `true` if both are the same object in memory.
    pub fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.candidates(), other.candidates())
    }

    /// Returns `true` if the configurations depend on the machine.
    pub fn are_native(&self) -> bool {
        self.candidates().native
    }

    /// Returns the configurations on a machine, or on the host for `None`.
    ///
    /// # Errors
    /// A [`Refusal`] if no units of the machine multiply the types.
    pub fn on(&self, machine: Option<&Machine>) -> Result<&Self, Refusal> {
        let Candidates { request, native, .. } = self.candidates();
        let (true, Some(request), Some(machine)) = (native, request, machine) else {
            return Ok(self);
        };
        let arch = ArchKind::newest_of(machine.sm).unwrap_or(ArchKind::Sm70);
        let known = &self.cells().per_arch[arch as usize];
        if let Some(known) = known.get() {
            return Ok(known);
        }
        let first = request.resolve(Target::Gpu(arch)).map_err(|unresolved| unresolved.because)?;
        let request = TypedRequest { arch: Some(arch), ..*request };
        Ok(known.get_or_init(|| Self::computed(Candidates::from_request(request, first))))
    }

    /// Constant candidates have their cells in a table of the process, because a generic type has
    /// no `static` of its own.
    fn cells(&self) -> &Cells {
        static CONSTANT: RwLock<BTreeMap<usize, &'static Cells>> = RwLock::new(BTreeMap::new());
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
