//! The paths of requests, which contain the name of the model.

use crate::{encode::invalid_request, error::LlmError};

/// The collection of models whose name contains none.
const MODELS: &str = "models/";

/// Returns the path for a method of a model. A name with a collection in front (`tunedModels/x`) is used as it is.
pub(super) fn of_model(model: &str, method: &str) -> Result<String, LlmError> {
    let name = resource(model)?;
    let mut path = String::with_capacity(name.len() + method.len() + 2);
    path.push('/');
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/@".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path.push(':');
    path.push_str(method);
    Ok(path)
}

/// Returns the name of a model with its collection: `models/gemini-2.5-flash`.
pub(super) fn resource(model: &str) -> Result<String, LlmError> {
    let name = if model.contains('/') {
        model.to_owned()
    } else {
        format!("{MODELS}{model}")
    };
    // The name becomes a part of the URL, and must not lead to another path.
    if name.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
        let message = format!(
            "`{}` is not the name of a model: it contains an empty part",
            model.escape_debug()
        );
        return Err(invalid_request(message));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_paths() {
        let check = |model: &str, expected: &str| {
            assert_eq!(
                of_model(model, "generateContent").unwrap(),
                format!("/{expected}:generateContent")
            );
        };
        check("gemini-2.5-flash", "models/gemini-2.5-flash");
        check("models/gemini-2.5-flash", "models/gemini-2.5-flash");
        check("tunedModels/a_1", "tunedModels/a_1");
        check("a b?c#d:e", "models/a%20b%3Fc%23d%3Ae");
    }

    #[test]
    fn a_name_does_not_lead_to_another_path() {
        for model in ["models/../files", "/x", "x/", "models//x", "./x", "../x"] {
            assert!(of_model(model, "generateContent").is_err(), "{model}");
        }
    }
}
