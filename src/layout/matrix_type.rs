//! What a matrix is made of and how it lies, as one word: `f32:col`.

use super::Order;
use crate::numeric::ElementKind;
use core::{fmt, str::FromStr};

/// Elements and layout of a matrix, as command lines and suites spell them: `bf16:row`.
///
/// ```
/// use falchion::layout::{MatrixType, Order};
/// let matrix: MatrixType = "bf16:row".parse().unwrap();
/// assert_eq!((matrix.to_string(), matrix.order), ("bf16:row".to_owned(), Order::Row));
/// assert!("bf16:diagonal".parse::<MatrixType>().unwrap_err().contains("it is `row` or `col`"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "String", into = "String"))]
pub struct MatrixType {
    /// The elements.
    pub element: ElementKind,
    /// The layout.
    pub order: Order,
}

impl FromStr for MatrixType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (element, order) =
            text.split_once(':').ok_or_else(|| format!("the operand `{text}` is not of the form `type:row` or `type:col`"))?;
        let element = ElementKind::from_str(element).map_err(|because| format!("the operand `{text}` {because}"))?;
        let order = match order {
            "row" => Order::Row,
            "col" => Order::Col,
            other => return Err(format!("the operand `{text}` names the order `{other}`; it is `row` or `col`")),
        };
        Ok(Self { element, order })
    }
}

impl TryFrom<String> for MatrixType {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MatrixType> for String {
    fn from(matrix: MatrixType) -> Self {
        matrix.to_string()
    }
}

impl fmt::Display for MatrixType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.element, self.order)
    }
}
