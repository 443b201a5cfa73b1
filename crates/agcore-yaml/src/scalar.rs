//! Scalars, resolved by the core schema of YAML 1.2.

use saphyr_parser::{ScalarStyle, Tag};

use crate::node::Value;

/// Resolves a scalar.
pub(crate) fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => return Ok(Value::Text(text.to_owned())),
        Some(_) => return Err("the only tag that is supported is !!str; remove it".to_owned()),
        None => {}
    }
    if !matches!(style, ScalarStyle::Plain) {
        return Ok(Value::Text(text.to_owned()));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_number(text) => Value::Number(text.to_owned()),
        _ => Value::Text(text.to_owned()),
    })
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let is_part = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<f64>().is_ok()
        && digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && mantissa.split('.').all(is_part)
}
