//! The keywords that compare one value with their operand.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use serde_json::{Map, Number, Value};

use crate::schema::{alternatives::is_type, constants::not_one_of, unknown_member_message};

/// The patterns of names that maps with integers as keys have. Only the full validator understands others.
pub(super) const PATTERNS: [&str; 2] = [r"^\d+$", r"^-?\d+$"];

/// Returns the message if a value does not match a keyword.
pub(super) fn wrong(keyword: &str, operand: &Value, value: &Value) -> Option<String> {
    match keyword {
        "type" => wrong_type(operand, value),
        "enum" => {
            let constants = operand.as_array()?;
            let is_one = constants.iter().any(|constant| is_equal(constant, value));
            (!is_one).then(|| not_one_of(value, constants))
        }
        "const" => (!is_equal(operand, value)).then(|| format!("{operand} was expected")),
        _ => match value {
            Value::Number(number) => wrong_number(keyword, operand.as_number()?, number),
            Value::String(text) if matches!(keyword, "minLength" | "maxLength") => {
                wrong_count(keyword, operand, value, text.chars().count(), "character", "characters")
            }
            Value::Array(items) if matches!(keyword, "minItems" | "maxItems") => {
                wrong_count(keyword, operand, value, items.len(), "item", "items")
            }
            Value::Array(items) if keyword == "uniqueItems" && *operand == true => {
                (!are_distinct(items)).then(|| format!("{value} has non-unique elements"))
            }
            Value::Object(members) if matches!(keyword, "minProperties" | "maxProperties") => {
                wrong_count(keyword, operand, value, members.len(), "property", "properties")
            }
            _ => None,
        },
    }
}

fn wrong_type(types: &Value, value: &Value) -> Option<String> {
    match types {
        Value::String(name) => (!is_type(name, value)).then(|| format!("{value} is not of type \"{name}\"")),
        Value::Array(names) => {
            let is_one = names.iter().filter_map(Value::as_str).any(|name| is_type(name, value));
            let names = || names.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
            (!is_one).then(|| format!("{value} is not of types {}", names()))
        }
        _ => None,
    }
}

fn wrong_number(keyword: &str, limit: &Number, number: &Number) -> Option<String> {
    let order = compare(number, limit)?;
    let reason = match keyword {
        "minimum" if order.is_lt() => "less than the minimum of",
        "maximum" if order.is_gt() => "greater than the maximum of",
        "exclusiveMinimum" if order.is_le() => "less than or equal to the minimum of",
        "exclusiveMaximum" if order.is_ge() => "greater than or equal to the maximum of",
        // The remainder of fractions is not exact.
        "multipleOf" if limit.as_f64().is_some_and(|limit| limit.fract() == 0.0) && !is_multiple(number, limit) => {
            "not a multiple of"
        }
        _ => return None,
    };
    Some(format!("{number} is {reason} {limit}"))
}

fn wrong_count(keyword: &str, limit: &Value, value: &Value, count: usize, one: &str, many: &str) -> Option<String> {
    let limit = limit.as_u64()?;
    let unit = if limit == 1 { one } else { many };
    let count = count as u64;
    let reason = match keyword {
        "minLength" if count < limit => "is shorter than",
        "maxLength" if count > limit => "is longer than",
        "minItems" | "minProperties" if count < limit => "has less than",
        "maxItems" | "maxProperties" if count > limit => "has more than",
        _ => return None,
    };
    Some(format!("{value} {reason} {limit} {unit}"))
}

/// Returns whether `properties` or `patternProperties` are responsible for a member.
pub(super) fn names(keywords: &Map<String, Value>, name: &str) -> bool {
    let of = |keyword| keywords.get(keyword).and_then(Value::as_object);
    of("properties").is_some_and(|properties| properties.contains_key(name))
        || of("patternProperties").is_some_and(|patterns| patterns.keys().any(|pattern| matches(pattern, name)))
}

/// Returns whether members may be those of patterns that are not understood.
pub(super) fn has_other_patterns(keywords: &Map<String, Value>) -> bool {
    let patterns = keywords.get("patternProperties").and_then(Value::as_object);
    patterns.is_some_and(|patterns| patterns.keys().any(|pattern| !PATTERNS.contains(&pattern.as_str())))
}

/// Returns whether a name matches one of the [`PATTERNS`].
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let digits = match pattern {
        r"^\d+$" => name,
        r"^-?\d+$" => name.strip_prefix('-').unwrap_or(name),
        _ => return false,
    };
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the message about a member that an object may not have.
pub(super) fn unknown_member(keywords: &Map<String, Value>, name: &str) -> String {
    let known = keywords.get("properties").and_then(Value::as_object);
    unknown_member_message(name, known.into_iter().flat_map(Map::keys))
}

/// Returns whether two values are equal in the sense of JSON Schema: 1 is 1.0.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let has = |(name, value): (&String, &Value)| b.get(name).is_some_and(|other| is_equal(value, other));
            a.len() == b.len() && a.iter().all(has)
        }
        _ => a == b,
    }
}

fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Returns whether a number is a multiple of a whole one.
fn is_multiple(number: &Number, of: &Number) -> bool {
    match (number.as_i128(), of.as_i128(), number.as_f64(), of.as_f64()) {
        (Some(number), Some(of), ..) => number.checked_rem(of) == Some(0),
        (_, _, Some(number), Some(of)) => number % of == 0.0,
        _ => false,
    }
}

/// Returns whether no two items are equal.
fn are_distinct(items: &[Value]) -> bool {
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(items.len());
    items.iter().all(|item| {
        let same_hash = seen.entry(hash(item)).or_default();
        let is_new = !same_hash.iter().any(|other| is_equal(other, item));
        same_hash.push(item);
        is_new
    })
}

/// Returns a hash that is the same for equal values.
fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        Value::Null => 0.hash(&mut hasher),
        Value::Bool(value) => value.hash(&mut hasher),
        // Adding zero makes the negative zero positive.
        Value::Number(number) => (number.as_f64().unwrap_or_default() + 0.0).to_bits().hash(&mut hasher),
        Value::String(text) => text.hash(&mut hasher),
        Value::Array(items) => items.iter().for_each(|item| hash(item).hash(&mut hasher)),
        Value::Object(members) => {
            // The order of members does not matter.
            let member = |(name, value): (&String, &Value)| {
                let mut hasher = DefaultHasher::new();
                (name, hash(value)).hash(&mut hasher);
                hasher.finish()
            };
            members.iter().map(member).fold(0, u64::wrapping_add).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Returns the schema that a reference refers to, within the same document.
pub(super) fn target<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)
}
