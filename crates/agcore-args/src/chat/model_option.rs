//! [`ModelOption`]: a parameter of requests on the command line.

use agcore::{
    agent::Parameters,
    chat::text::{alternatives, suggestion},
};
use agcore_document::{DocumentError, ErrorKind, Expected, Format};
use agcore_settings::wording::{expected, text_in_words};
use serde_json::Value;

/// The members of a request that are not parameters, and what sets them instead.
const OTHERS: [(&str, &str); 7] = [
    ("model", "use --model"),
    ("messages", "the program writes the conversation"),
    ("tools", "use --no-tools, or rules in [permissions]"),
    ("tool_choice", "the program chooses it"),
    ("response_format", "use --schema"),
    ("stream", "the program chooses it"),
    ("stream_options", "the program chooses them"),
];

/// A parameter of requests and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOption {
    name: String,
    value: Value,
}

impl ModelOption {
    /// Parses `NAME=VALUE`.
    ///
    /// # Errors
    /// When the text has another form, or the name is not that of a parameter.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text
            .split_once('=')
            .ok_or("expected NAME=VALUE, such as temperature=0")?;
        let name = name.trim();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err("the name of a parameter has only letters, digits and `_`, as in temperature=0".to_owned());
        }
        if let Some((name, instead)) = OTHERS.iter().find(|(other, _)| *other == name) {
            return Err(format!("`{name}` cannot be set as an option; {instead}"));
        }
        Ok(Self {
            name: name.to_owned(),
            value: serde_json::from_str(value).unwrap_or_else(|_| Value::from(value)),
        })
    }

    /// Returns the parameters of an agent with these options in place of its own. The last one with a name counts.
    ///
    /// # Errors
    /// When a value has the wrong type.
    pub fn applied(options: &[Self], parameters: &Parameters) -> Result<Parameters, String> {
        let mut parameters = parameters.clone();
        for Self { name, value } in options {
            let failed = |problem: String| format!("--option {name}: {problem}");
            let mut members = serde_json::to_value(&parameters).map_err(|error| failed(error.to_string()))?;
            if let Some(members) = members.as_object_mut() {
                members.insert(name.clone(), value.clone());
            }
            let read = Format::Json.parse(&members.to_string()).and_then(|root| root.read());
            parameters = read.map_err(|error| failed(explain(&error, value)))?;
        }
        Ok(parameters)
    }
}

/// Describes a mistake: what the value must be, and what it is.
fn explain(error: &DocumentError, value: &Value) -> String {
    let wanted = match &error.kind {
        ErrorKind::WrongType { expected: wanted, .. } | ErrorKind::OutOfRange { expected: wanted, .. } => {
            match wanted {
                Expected::Table => "a JSON object".into(),
                Expected::Name(names) => alternatives(names).into(),
                other => expected(other, false),
            }
        }
        ErrorKind::UnknownName { name, known } => {
            let found = text_in_words(name) + &suggestion(name, known);
            return format!("expected {}, found {found}", alternatives(known));
        }
        other => return other.to_string(),
    };
    format!("expected {wanted}, found {}", in_words(value))
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => text_in_words(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a JSON object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(texts: &[&str]) -> Vec<ModelOption> {
        texts.iter().map(|text| ModelOption::parse(text).unwrap()).collect()
    }

    #[test]
    fn values_are_json_or_text() {
        let value = |text: &str| ModelOption::parse(text).unwrap().value;
        assert_eq!(value("temperature=0"), json!(0));
        assert_eq!(value("stop=[\"a\", \"b\"]"), json!(["a", "b"]));
        assert_eq!(value("reasoning_effort=low"), json!("low"));
        assert_eq!(value("user=a=b"), json!("a=b"));
        for wrong in ["temperature", "=1", "a b=1", "a.b=1"] {
            assert!(ModelOption::parse(wrong).is_err(), "{wrong}");
        }
        assert!(ModelOption::parse("model=gpt-5").unwrap_err().contains("--model"));
    }

    #[test]
    fn options_replace_the_parameters_of_an_agent() {
        let own: Parameters = serde_json::from_value(json!({"model": "m", "temperature": 0.5, "seed": 1})).unwrap();
        let options = options(&["temperature=0", "temperature=0.25", "top_k=40"]);
        let applied = ModelOption::applied(&options, &own).unwrap();
        assert_eq!(
            (applied.0.model.as_str(), applied.0.temperature, applied.0.seed),
            ("m", Some(0.25), Some(1))
        );
        assert_eq!(applied.0.extra_body.get("top_k"), Some(&json!(40)));
        assert_eq!(ModelOption::applied(&[], &own).unwrap(), own);
    }

    #[test]
    fn a_value_of_the_wrong_type_is_an_error() {
        let check = |option: &str, expected: &str| {
            let error = ModelOption::applied(&options(&[option]), &Parameters::default()).unwrap_err();
            assert_eq!(error, expected, "{option}");
        };
        check(
            "temperature=hot",
            "--option temperature: expected a number, found the text \"hot\"",
        );
        check(
            "max_tokens=1.5",
            "--option max_tokens: expected a whole number, found the number 1.5",
        );
    }
}
