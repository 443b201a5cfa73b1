//! The schema of an answer: a file, or JSON on the command line.

use std::{fs, path::Path, sync::Arc};

use agcore::chat::SchemaCheck;
use serde_json::Value;

use crate::exit::Failure;

/// Reads the schema, and returns it with the check of answers: JSON if it begins with `{`, or else the file with this name.
///
/// # Errors
/// When the file cannot be read, or does not contain a JSON object that is a valid JSON Schema.
pub(in crate::command::chat) fn read_schema(given: &Path) -> Result<(Value, Arc<dyn SchemaCheck>), Failure> {
    let inline = given.to_str().filter(|text| text.trim_start().starts_with('{'));
    let name = match inline {
        Some(_) => "the text after --schema".to_owned(),
        None => format!("the schema {}", given.display()),
    };
    let text = match inline {
        Some(text) => text.to_owned(),
        None => fs::read_to_string(given).map_err(|error| {
            Failure::usage(format!(
                "{name} cannot be read: {error}\n--schema expects the name of a file, or JSON that begins with {{"
            ))
        })?,
    };
    let schema: Value =
        serde_json::from_str(&text).map_err(|error| Failure::usage(format!("{name} is not valid JSON: {error}")))?;
    if !schema.is_object() {
        return Err(Failure::usage(format!(
            "{name} is not a JSON object, such as {{\"type\": \"object\"}}"
        )));
    }
    let check = check(&name, &schema)?;
    Ok((schema, check))
}

/// Returns the check of answers.
///
/// # Errors
/// When the schema is not valid: no answer would match, and the model would be asked in vain.
#[cfg(feature = "schema")]
fn check(name: &str, schema: &Value) -> Result<Arc<dyn SchemaCheck>, Failure> {
    let validator = agcore::tools::SchemaValidator::new();
    let checked = validator.check_schema(schema);
    checked.map_err(|reason| Failure::usage(format!("{name} is not a valid JSON Schema: {reason}")))?;
    Ok(Arc::new(validator))
}

/// # Errors
/// Always: this build has no validator.
#[cfg(not(feature = "schema"))]
fn check(_: &str, _: &Value) -> Result<Arc<dyn SchemaCheck>, Failure> {
    Err(Failure::missing(crate::exit::missing::SCHEMA, "--schema"))
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_json_or_the_name_of_a_file() {
        let (schema, _) = read_schema(Path::new(" {\"type\": \"object\"}")).unwrap();
        assert_eq!(schema["type"], "object");
        let check = |given: &str, expected: &[&str]| {
            let error = read_schema(Path::new(given)).err().unwrap().to_string();
            for part in expected {
                assert!(error.contains(part), "{given}: {error}");
            }
        };
        check(
            "{type: object}",
            &["the text after --schema is not valid JSON: ", "column 2"],
        );
        check(
            "{\"type\": \"strng\"}",
            &["the text after --schema is not a valid JSON Schema: ", "strng"],
        );
        check(
            "object",
            &["the schema object cannot be read: ", "JSON that begins with {"],
        );
    }
}
