//! Element type and order of a matrix in one word: `f32:col`.

use super::Order;
use crate::{Error, numeric::ElementKind};
use core::{fmt, str::FromStr};

/// Element type and order of a matrix, as command lines and suites spell them: `bf16:row`.
///
/// ```
/// use falchion::layout::{MatrixType, Order};
/// let matrix: MatrixType = "bf16:row".parse().unwrap();
/// assert_eq!((matrix.to_string(), matrix.order), ("bf16:row".to_owned(), Order::Row));
/// let refused: falchion::Error = "bf16:diagonal".parse::<MatrixType>().unwrap_err();
/// assert_eq!(refused.to_string(), "the operand `bf16:diagonal` names the order `diagonal`; the orders are `row` and `col`");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub struct MatrixType {
    /// Element type.
    pub element: ElementKind,
    /// Order.
    pub order: Order,
}

impl MatrixType {
    /// Returns the row-major matrix type of an element type.
    pub const fn row(element: ElementKind) -> Self {
        Self { element, order: Order::Row }
    }

    /// Returns the column-major matrix type of an element type.
    pub const fn col(element: ElementKind) -> Self {
        Self { element, order: Order::Col }
    }

    /// Returns the type of an operand of a BLAS call for its argument `TRANS`. `N` is column-major;
    /// `T` is the transpose of a column-major matrix; `C` equals `T`, because elements are real.
    /// Lower-case letters are accepted.
    ///
    /// # Errors
    /// [`Error::Text`] for another letter.
    pub fn blas(element: ElementKind, transposition: char) -> Result<Self, Error> {
        match transposition.to_ascii_uppercase() {
            'N' => Ok(Self::col(element)),
            'T' | 'C' => Ok(Self::row(element)),
            _ => Err(Error::Text {
                what: "transposition",
                text: transposition.to_string(),
                because: "is not a BLAS letter; the letters are `N`, `T`, and `C`".to_owned(),
            }),
        }
    }
}

impl FromStr for MatrixType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused =
            |because: String| Error::Text { what: "operand", text: text.to_owned(), because };
        let (element, order) = text
            .split_once(':')
            .ok_or_else(|| refused("is not of the form `type:row` or `type:col`".to_owned()))?;
        let element = ElementKind::from_name(element).ok_or_else(|| {
            refused(format!(
                "names the type `{element}`; the types are {}",
                ElementKind::ALL.map(ElementKind::name).join(", ")
            ))
        })?;
        let order = match order {
            "row" => Order::Row,
            "col" => Order::Col,
            other => {
                return Err(refused(format!(
                    "names the order `{other}`; the orders are `row` and `col`"
                )));
            }
        };
        Ok(Self { element, order })
    }
}

impl TryFrom<String> for MatrixType {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
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
