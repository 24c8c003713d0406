//! [`Request`]: types and knobs as values and words, as the command line and [`GemmOperation`] pass
//! them, and their resolution to a description.
//!
//! Types that the request omits follow from the given ones: the first row of the operation class's
//! table ([`Combined::all_of`]) that agrees. Knobs come from the default configuration or from a
//! given description; flags override them.
//!
//! [`GemmOperation`]: crate::device::GemmOperation

use crate::{
    Error,
    arch::{ArchKind, Machine, OpKind},
    layout::{MatrixType, Order, Orders},
    nest::{
        Completions, GemmDesc, Pins, Target,
        check_pins::{check_pins, without_thread_instruction},
        units::TypedRequest,
    },
    numeric::{Combined, ElementKind},
    shape::Axis,
};

/// A request for a kernel. The resolver chooses each field that is `None`.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Element type and layout of A.
    pub a: Option<MatrixType>,
    /// Element type and layout of B.
    pub b: Option<MatrixType>,
    /// Element type and layout of C and D.
    pub c: Option<MatrixType>,
    /// Element type of the accumulators.
    pub accumulator: Option<ElementKind>,
    /// Units that multiply. `None` selects the fastest units that multiply the types as they are.
    pub op: Option<OpKind>,
    /// Architecture whose instructions the kernel may use.
    pub arch: Option<ArchKind>,
    /// A complete description. Types that the request also names must agree with it.
    pub description: Option<GemmDesc>,
    /// Knobs as (JSON name, words). They refer to the user's A and B, even if D is column-major.
    pub knobs: Vec<(String, String)>,
}

/// The properties of a problem that determine the choice among kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProblemSize {
    /// M, N, and K.
    pub extents: (usize, usize, usize),
    /// Number of GEMMs with these extents.
    pub batch: usize,
    /// Bytes of workspace available for split-K partials.
    pub workspace: u64,
    /// Bytes of workspace available for copies of operands.
    pub for_passes: u64,
    /// Leading dimensions of A and B in elements; `None` if packed.
    pub leading: [Option<usize>; 2],
    /// Whether index lists select the lines of A, and of B.
    pub gathers: [bool; 2],
    /// Axis along which the GEMMs are groups, or `None` without groups. K of a grouped GEMM is not
    /// divided.
    pub groups: Option<Axis>,
    /// Whether the GEMMs are a pointer array. Stream-K is not selected for an array, because it
    /// computes one GEMM per launch.
    pub array: bool,
}

impl ProblemSize {
    /// Returns the size of one GEMM with unlimited workspace.
    pub const fn new(extents: (usize, usize, usize)) -> Self {
        Self {
            extents,
            batch: 1,
            workspace: u64::MAX,
            for_passes: u64::MAX,
            leading: [None; 2],
            gathers: [false; 2],
            groups: None,
            array: false,
        }
    }

    /// Returns the size of a launch for an array of `products` GEMMs: all of them, or one if each
    /// GEMM is a separate launch.
    ///
    /// Records in the workspace reduce the space for split-K partials. No space remains for copies,
    /// because a GEMM with a copied operand is a separate launch.
    #[must_use]
    pub const fn for_array(self, desc: &GemmDesc, products: usize) -> Self {
        let (desc, workspace) = desc.for_array_within(products, self.workspace);
        Self {
            batch: if desc.work.mode.is_array() { products } else { 1 },
            workspace,
            for_passes: 0,
            array: true,
            ..self
        }
    }

    /// Returns the size of a grouped GEMM whose groups have `m` rows in total, as
    /// [`for_groups_along`](Self::for_groups_along) does.
    pub const fn for_groups(extents: (usize, usize, usize), groups: usize) -> Self {
        Self::for_groups_along(Axis::M, extents, groups)
    }

    /// Returns the size of a grouped GEMM whose groups divide the extent of `axis`. The groups
    /// count as equally large. K of groups is not divided, so they need no workspace for partials.
    pub const fn for_groups_along(
        axis: Axis,
        (m, n, k): (usize, usize, usize),
        groups: usize,
    ) -> Self {
        let count = if groups == 0 { 1 } else { groups };
        Self {
            extents: match axis {
                Axis::M => (m.div_ceil(count), n, k),
                Axis::N => (m, n.div_ceil(count), k),
                Axis::K => (m, n, k.div_ceil(count)),
            },
            batch: groups,
            workspace: 0,
            for_passes: u64::MAX,
            leading: [None; 2],
            gathers: [false; 2],
            groups: Some(axis),
            array: false,
        }
    }
}

/// The source of a knob's value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Origin {
    /// The tables: the first row of [`Combined::all_of`] that agrees, and the row of
    /// [`default_gemm_configurations`](crate::nest::defaults::default_gemm_configurations) for these types.
    Default,
    /// The given description.
    Description,
    /// A flag.
    Flag,
    /// Derived from pinned knobs: without them, the value would differ.
    Derived,
    /// The problem size: the candidate configurations differ in this knob.
    Size,
    /// The element type of a file.
    File,
}

impl Origin {
    /// Returns the source in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "the default",
            Self::Description => "the description",
            Self::Flag => "a flag",
            Self::Derived => "what is pinned",
            Self::Size => "the problem size",
            Self::File => "a file",
        }
    }
}

/// A resolved value, in the words of its flag.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Choice {
    /// Flag.
    pub flag: &'static str,
    /// Value.
    pub value: String,
    /// Source of the value.
    pub from: Origin,
}

/// A resolved request. The description is valid.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The description, in the kernel's frame.
    pub desc: GemmDesc,
    /// Layouts in the user's frame.
    pub orders: Orders,
    /// Types, then knobs in the order of [`Pins::TABLE`], each with its value and source.
    pub choices: Vec<Choice>,
}

impl Request {
    /// Returns the description for a target: the first candidate that completes the request.
    ///
    /// # Errors
    /// [`Error::Refused`] if no kernel satisfies the request. [`Error::KnobText`] if a text is not
    /// a value of its knob. [`Error::Description`] if types contradict the description.
    pub fn resolve(&self, target: impl Into<Target>) -> Result<Resolved, Error> {
        self.chosen(target.into(), Completions::first, |_| Vec::new())
    }

    /// Returns the candidate that a problem selects on a machine. Without a machine, the
    /// architecture's own is used.
    ///
    /// # Errors
    /// The errors of [`resolve`](Self::resolve).
    pub fn resolve_for(
        &self,
        target: impl Into<Target>,
        size: ProblemSize,
        machine: Option<&Machine>,
    ) -> Result<Resolved, Error> {
        let choice = |completions: &Completions| {
            let machine = machine.copied().unwrap_or(completions.first().arch.machine());
            completions.choose(&size, &machine)
        };
        self.chosen(target.into(), choice, Completions::knobs_by_size)
    }

    /// Returns the request without a description: types, layouts, units, and pins.
    ///
    /// # Errors
    /// [`Error::KnobText`] if a text is not a value of its knob.
    pub(crate) fn wanted(&self) -> Result<TypedRequest, Error> {
        Ok(self.with_pins(self.pins()?))
    }

    /// Returns a description with the request's knobs.
    ///
    /// # Errors
    /// The errors of [`resolve`](Self::resolve).
    pub(crate) fn description_of(&self, description: GemmDesc) -> Result<GemmDesc, Error> {
        self.changed(description, self.pins()?)
    }

    /// Returns the columns of B per column of D: two if the epilogue among the knobs has a gate.
    pub fn columns_per_output(&self) -> usize {
        let epilogue = self.pins().ok().and_then(|pins| pins.epilogue);
        epilogue.map_or(1, |epilogue| epilogue.columns_per_output())
    }

    fn pins(&self) -> Result<Pins, Error> {
        let mut pins = Pins::NONE;
        self.knobs.iter().try_for_each(|(name, words)| pins.set(name, words))?;
        Ok(pins)
    }

    fn with_pins(&self, pins: Pins) -> TypedRequest {
        let order = |given: Option<MatrixType>| given.map_or(Order::Row, |matrix| matrix.order);
        TypedRequest {
            types: self.types(),
            orders: Orders { a: order(self.a), b: order(self.b), c: order(self.c) },
            op: self.op,
            arch: self.arch,
            pins,
        }
    }

    /// Returns the candidates with these pins.
    fn pinned(&self, target: Target, pins: Pins) -> Result<Completions, Error> {
        match self.description {
            Some(given) => Ok(Completions::from_first(self.changed(given, pins)?)),
            None => Ok(self.with_pins(pins).completions(target)?),
        }
    }

    fn chosen(
        &self,
        target: Target,
        choice: impl Fn(&Completions) -> GemmDesc,
        by_size: impl Fn(&Completions) -> Vec<&'static str>,
    ) -> Result<Resolved, Error> {
        let pins = self.pins()?;
        let completions = self.pinned(target, pins)?;
        let (desc, by_size) = (choice(&completions), by_size(&completions));
        let origin = if self.description.is_some() { Origin::Description } else { Origin::Default };
        // The knobs without any pins. A given description pins all of them.
        let unpinned = match self.description {
            None if !pins.is_none() => self
                .with_pins(Pins::NONE)
                .complete_units(desc.op(), desc.arch)
                .map_or(Pins::NONE, |all| choice(&all).user_pins()),
            _ => desc.user_pins(),
        };
        let (types, orders, knobs) = (desc.user_types(), desc.orders(), desc.user_pins());
        let flagged = |given: bool| if given { Origin::Flag } else { origin };
        let matrix = |element, order| MatrixType { element, order }.to_string();
        let values = [
            ("--a", matrix(types.a, orders.a), self.a.is_some()),
            ("--b", matrix(types.b, orders.b), self.b.is_some()),
            ("--c", matrix(types.c, orders.c), self.c.is_some()),
            ("--acc", types.accumulator.to_string(), self.accumulator.is_some()),
            ("--op", desc.op().to_string(), self.op.is_some()),
            ("--arch", desc.arch.to_string(), self.arch.is_some()),
        ];
        let mut choices = Vec::from(values.map(|(flag, value, given)| Choice {
            flag,
            value,
            from: flagged(given),
        }));
        let named = |name: &str| self.knobs.iter().any(|(given, _)| given == name);
        for ((&(name, flag, _), value), unpinned) in
            Pins::TABLE.iter().zip(knobs.words()).zip(unpinned.words())
        {
            let from = if named(name) {
                Origin::Flag
            } else if by_size.contains(&name) {
                Origin::Size
            } else if value == unpinned {
                origin
            } else {
                Origin::Derived
            };
            choices.extend(value.map(|value| Choice { flag, value, from }));
        }
        Ok(Resolved { desc, orders, choices })
    }

    /// Returns the given description with the pinned knobs replaced. It pins all knobs, so the pins
    /// derive nothing.
    fn changed(&self, mut given: GemmDesc, pins: Pins) -> Result<GemmDesc, Error> {
        self.agrees(given.user_types(), given.orders(), given.op())?;
        given.arch = self.arch.unwrap_or(given.arch);
        let pins = without_thread_instruction(pins, &given.class());
        check_pins(&given.knobs(), &pins, given.op(), given.arch)?;
        let desc = given.with(pins);
        desc.mainloop.check_pinned(&pins)?;
        desc.check().map_err(|refusal| refusal.leave(desc.frame))?;
        Ok(desc)
    }

    /// Returns the first row of the table that agrees with the given types. A row of the other
    /// operation class leads to a refusal that names these types.
    fn types(&self) -> Combined {
        let op = self.op.unwrap_or(OpKind::Simt);
        let kind = |matrix: Option<MatrixType>| matrix.map(|matrix| matrix.element);
        let (a, b, c) = (kind(self.a), kind(self.b), kind(self.c));
        let agree = |wanted: Option<ElementKind>, kind| wanted.is_none_or(|wanted| wanted == kind);
        let row = [op, op.other()].into_iter().flat_map(Combined::all_of).find(|row| {
            agree(a, row.a)
                && agree(b, row.b)
                && agree(c, row.c)
                && agree(self.accumulator, row.accumulator)
        });
        // If no row agrees, the missing types come from the most similar row.
        let first = a.or(b).or(c).or(self.accumulator).unwrap_or(ElementKind::F32);
        row.copied().unwrap_or_else(|| {
            let [a, b, c] = [a, b, c].map(|kind| kind.unwrap_or(first));
            let types = Combined { a, b, accumulator: self.accumulator.unwrap_or(first), c };
            let other = op.other();
            let op = if types.likeness_to(other) > types.likeness_to(op) { other } else { op };
            let nearest = types.nearest(op).accumulator;
            Combined { accumulator: self.accumulator.unwrap_or(nearest), ..types }
        })
    }

    /// Checks that types given with a description agree with it.
    fn agrees(&self, types: Combined, orders: Orders, op: OpKind) -> Result<(), Error> {
        let contradicts =
            |name: &str, given: &dyn ToString, stated: &dyn ToString| Error::Description {
                because: format!(
                    "{name} is {}, but {} is requested",
                    stated.to_string(),
                    given.to_string()
                ),
            };
        let matrices = [
            ("A", self.a, MatrixType { element: types.a, order: orders.a }),
            ("B", self.b, MatrixType { element: types.b, order: orders.b }),
            ("C", self.c, MatrixType { element: types.c, order: orders.c }),
        ];
        for (name, given, stated) in matrices {
            if let Some(given) = given.filter(|given| *given != stated) {
                return Err(contradicts(name, &given, &stated));
            }
        }
        if let Some(given) = self.accumulator.filter(|given| *given != types.accumulator) {
            return Err(contradicts("the accumulator", &given, &types.accumulator));
        }
        if let Some(given) = self.op.filter(|given| *given != op) {
            return Err(contradicts("op", &given, &op));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "request_tests/simt.rs"]
mod simt;

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn typed(a: &str, b: &str, c: &str) -> Request {
        let read = |text: &str| if text.is_empty() { None } else { Some(text.parse().unwrap()) };
        Request { a: read(a), b: read(b), c: read(c), ..Request::default() }
    }

    pub(super) fn sentence(request: &Request) -> String {
        request.resolve(ArchKind::Sm80).unwrap_err().to_string()
    }

    #[test]
    fn types_follow_from_those_given() {
        for (given, a, b, accumulator, c) in [
            (("f64:row", "", ""), "f64", "f64", "f64", "f64"),
            (("", "i8:col", ""), "i8", "i8", "i32", "i32"),
            (("bf16:row", "", "f32:row"), "bf16", "bf16", "f32", "f32"),
            (("", "", "u8:row"), "u8", "u8", "i32", "u8"),
        ] {
            let types =
                typed(given.0, given.1, given.2).resolve(ArchKind::Sm80).unwrap().desc.user_types();
            assert_eq!(
                [types.a, types.b, types.accumulator, types.c].map(ElementKind::name),
                [a, b, accumulator, c]
            );
        }
        let says = sentence(&typed("f32:row", "f64:row", ""));
        assert_eq!(
            says,
            "no kernel multiplies f32 by f64 accumulating in f32 into f32; try f32 by f32 accumulating in f32 into f32"
        );
    }

    /// `Gemm` has the default types of a request that names only A.
    #[test]
    fn default_types_of_gemm_are_the_first_row_of_the_tables() {
        use crate::numeric::{Bf16, E4m3, E5m2, F16, MathType, Tf32};
        fn first<T: MathType>() {
            let [a, b] = [Some(MatrixType::row(T::KIND)); 2];
            let types = Request { a, b, ..Request::default() }.types();
            let (accumulator, c) = (T::Accumulator::KIND, T::Output::KIND);
            assert_eq!(types, Combined { a: T::KIND, b: T::KIND, accumulator, c });
        }
        first::<f64>();
        first::<f32>();
        first::<Tf32>();
        first::<F16>();
        first::<Bf16>();
        first::<E4m3>();
        first::<E5m2>();
        first::<i8>();
        first::<u8>();
        first::<i32>();
    }

    #[test]
    fn a_knob_that_is_none_is_refused() {
        for (name, words, says) in [
            ("stages", "many", "stages cannot be `many`: the value must be a whole number"),
            ("depth", "1", "depth cannot be `1`: there is no knob of this name"),
            ("swizzle", "99", "swizzle = 99 is outside 1 to 64"),
        ] {
            let knobs = vec![(name.into(), words.into())];
            let request = Request { knobs, ..typed("bf16:row", "", "") };
            assert!(sentence(&request).starts_with(says), "{}", sentence(&request));
        }
    }
}
