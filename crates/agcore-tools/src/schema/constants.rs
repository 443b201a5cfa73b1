//! [`not_one_of`]: the message for a value that an `enum` does not list.

use std::fmt::Write as _;

use serde_json::Value;

/// The number of constants that a message lists. A model can correct itself only with those that it sees.
const MAX_LISTED: usize = 24;

/// Returns the message for a value that is not among these constants.
pub(super) fn not_one_of(value: &Value, constants: &[Value]) -> String {
    format!("{value} is not one of {}", list(constants))
}

/// Lists constants as `1, 2 or 3`.
fn list(constants: &[Value]) -> String {
    let mut text = String::new();
    let shown = if constants.len() > MAX_LISTED {
        MAX_LISTED - 1
    } else {
        constants.len()
    };
    for (index, constant) in constants.iter().take(shown).enumerate() {
        let separator = match index {
            0 => "",
            _ if index + 1 == constants.len() => " or ",
            _ => ", ",
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "{separator}{constant}");
    }
    if shown < constants.len() {
        let _ = write!(text, " or {} other candidates", constants.len() - shown);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn up_to_24_constants_are_listed() {
        assert_eq!(
            not_one_of(&json!("d"), &[json!("a"), json!(1)]),
            r#""d" is not one of "a" or 1"#
        );
        let constants: Vec<Value> = (0..25).map(Value::from).collect();
        let all = not_one_of(&json!(true), &constants[..24]);
        assert!(all.ends_with("21, 22 or 23"), "{all}");
        let most = not_one_of(&json!(true), &constants);
        assert!(most.ends_with("21, 22 or 2 other candidates"), "{most}");
    }
}
