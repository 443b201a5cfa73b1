//! Scalars, resolved by the core schema of YAML 1.2.

use saphyr_parser::{ScalarStyle, Tag};

use crate::{error::ErrorKind, node::Value, number};

/// Resolves a scalar.
pub(super) fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, ErrorKind> {
    match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => return Ok(Value::Text(text.to_owned())),
        Some(_) => {
            return Err(ErrorKind::Unsupported(
                "the only tag that is supported is !!str; remove it",
            ));
        }
        None => {}
    }
    if !matches!(style, ScalarStyle::Plain) {
        return Ok(Value::Text(text.to_owned()));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if number::is_decimal(text) => Value::Number(text.to_owned()),
        _ => match with_base(text) {
            Some((digits, radix)) => number::from_radix(digits, radix)
                .map(Value::Number)
                .ok_or(ErrorKind::Unsupported(number::TOO_LARGE))?,
            None => Value::Text(text.to_owned()),
        },
    })
}

/// Returns the digits and the base of a hexadecimal or octal number.
fn with_base(text: &str) -> Option<(&str, u32)> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 8),
        _ => return None,
    };
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then_some((digits, radix))
}
