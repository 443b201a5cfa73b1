//! Scalars: the types that a value may have, and their ranges.

use crate::{
    error::{ErrorKind, Expected, Found},
    node::{Node, Value},
    number,
    read::failure::Failure,
};

/// Returns the failure of a value of another type.
pub(super) fn wrong_type(node: &Node, expected: Expected) -> Failure {
    Failure::new(ErrorKind::WrongType {
        expected,
        found: Found::of(node),
    })
}

/// Returns the failure of a value that is too large, or too small.
pub(super) fn out_of_range(node: &Node, expected: Expected) -> Failure {
    Failure::new(ErrorKind::OutOfRange {
        expected,
        found: Found::of(node),
    })
}

pub(super) fn text(node: &Node) -> Result<&str, Failure> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong_type(node, Expected::Text)),
    }
}

/// Reads a whole number of a type with this range.
pub(super) fn whole<N: std::str::FromStr>(node: &Node, least: i64, most: u64) -> Result<N, Failure> {
    let expected = Expected::Whole { least, most };
    match &node.value {
        Value::Number(text) if number::is_whole(text) => {
            let number = number::unsigned(text).parse();
            number.map_err(|_| out_of_range(node, expected))
        }
        _ => Err(wrong_type(node, expected)),
    }
}

/// Reads a number that is finite.
pub(super) fn float(node: &Node) -> Result<f64, Failure> {
    match &node.value {
        Value::Number(text) => {
            let number: Option<f64> = text.parse().ok();
            let number = number.filter(|number| number.is_finite());
            number.ok_or_else(|| out_of_range(node, Expected::Number))
        }
        _ => Err(wrong_type(node, Expected::Number)),
    }
}
