//! The paths of requests, which contain the id of the model.

use crate::{encode::invalid_request, error::LlmError};

/// Returns the path for an operation of a model. The id, which may be an ARN, is one segment of it.
pub(super) fn of_model(model: &str, operation: &str) -> Result<String, LlmError> {
    // Such a segment would lead to another path.
    if matches!(model, "." | "..") {
        let message = format!("`{model}` is not the id of a model: use one such as `amazon.nova-lite-v1:0`");
        return Err(invalid_request(message));
    }
    let mut path = String::with_capacity(model.len() + operation.len() + 16);
    path.push_str("/model/");
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path.push('/');
    path.push_str(operation);
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_segment() {
        let check = |model: &str, expected: &str| {
            assert_eq!(
                of_model(model, "converse").unwrap(),
                format!("/model/{expected}/converse")
            );
        };
        check("amazon.nova-lite-v1:0", "amazon.nova-lite-v1%3A0");
        check("us.anthropic.claude-sonnet-4-6", "us.anthropic.claude-sonnet-4-6");
        check(
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
            "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc",
        );
        check("../x?y#z ü", "..%2Fx%3Fy%23z%20%C3%BC");
    }

    #[test]
    fn an_id_does_not_lead_to_another_path() {
        for model in [".", ".."] {
            assert!(of_model(model, "converse").is_err(), "{model}");
        }
    }
}
