//! `agcore schema`, and the examples of the documentation.

use serde_json::Value;

use crate::{machine::assert_valid, support::Agcore};

const STORED: &str = include_str!("../../../../docs/output-schema.json");
const PAGE: &str = include_str!("../../../../docs/output.md");

#[test]
fn prints_the_published_schema() {
    let ran = Agcore::new().run(["schema"]);
    assert_eq!(ran.assert_success(), STORED.replace("\r\n", "\n"));
    let schema: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn the_documentation_has_a_valid_example_of_every_type() {
    let mut shown = Vec::new();
    for line in PAGE.lines().filter(|line| line.starts_with('{')) {
        let example: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_valid(&example);
        shown.push(example["type"].as_str().unwrap().to_owned());
    }
    let schema: Value = serde_json::from_str(STORED).unwrap();
    let types = schema["oneOf"].as_array().unwrap().iter();
    for kind in types.map(|event| event["properties"]["type"]["const"].as_str().unwrap()) {
        assert!(shown.iter().any(|known| known == kind), "no example of {kind}");
    }
}

#[test]
fn the_schema_rejects_other_lines() {
    let schema = serde_json::from_str(STORED).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for line in [
        r#"{"type": "unheard_of", "v": 1, "seq": 0, "ts": "", "session_id": null, "turn_id": null}"#,
        r#"{"type": "turn_end", "v": 1, "seq": 0, "ts": "", "session_id": null, "turn_id": null}"#,
        r#"{"type": "turn_end", "num_model_calls": 1, "v": 1, "ts": "", "session_id": null, "turn_id": null}"#,
        r#"{"type": "turn_end", "num_model_calls": -1, "v": 1, "seq": 0, "ts": "", "session_id": null, "turn_id": null}"#,
    ] {
        assert!(!validator.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
    }
}
