//! The rules of requests.

use crate::shape::words::words;

words! {
    /// A relation between a field and its limit that a request must fulfill. The word of a rule
    /// states that the relation does not hold.
    #[non_exhaustive]
    pub enum Rule {
        /// The value is at least the limit.
        AtLeast = "is less than",
        /// The value is at most the limit.
        AtMost = "exceeds",
        /// The value is in a range.
        Within = "is outside",
        /// The value is one of a list.
        OneOf = "is not one of",
        /// The value is a multiple of the limit.
        Multiple = "is not a multiple of",
        /// The value divides the limit.
        Divides = "does not divide",
        /// The value equals the limit.
        Equal = "is not",
        /// The limit supports the value of the field.
        Supported = "is not supported by",
        /// A kernel multiplies the types.
        Multiplied = "no kernel multiplies",
        /// The kernel reads the argument.
        Read = "is not read by",
        /// The kernel writes the argument.
        Written = "is not written by",
        /// The call passes an argument that the kernel reads.
        Given = "is missing",
        /// The number is finite.
        Finite = "is not finite",
        /// The strides belong to a matrix that is contiguous along rows or columns.
        Contiguous = "are not contiguous",
        /// The strides belong to a row-major or a column-major matrix.
        Ordered = "are not",
        /// The strides give each element its own address.
        Injective = "place two elements at one address",
        /// The strides are positive.
        Positive = "are not positive",
        /// The memory of two operands does not overlap.
        Apart = "overlaps",
        /// The value occurs once.
        Distinct = "repeats",
        /// Two operands are on one device.
        SameDevice = "is on another device than",
        /// Two operands agree.
        Alike = "differs from",
        /// The work does not run during stream capture.
        Uncaptured = "is not possible during stream capture",
        /// An expression is well-formed.
        Formed = "is malformed",
        /// The kernels have the knob.
        Knob = "is not a knob of",
        /// The PTX has the instructions of the architecture.
        Older = "is older than",
        /// The memory can be allocated.
        Allocated = "cannot be allocated",
        /// The address is not 0.
        Null = "is 0",
        /// A view or the call sets the value, not both.
        SetOnce = "are set by the view and by the call",
        /// The kernel can do the work.
        Possible = "is impossible",
        /// The program has registered the node.
        Registered = "is not registered",
    }
}
