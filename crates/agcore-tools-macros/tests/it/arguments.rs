//! Parameters as arguments: their schema, and how they are deserialized.

use std::collections::BTreeMap;

use agcore_tools::{
    ToolError, ToolErrorKind, arguments,
    schemars::{self, JsonSchema},
    tool,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{call, property, required};

/// Adds two numbers.
#[tool]
async fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> Result<i64, ToolError> {
    Ok(a + b)
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Newest,
    Oldest,
}

fn ten() -> u8 {
    10
}

/// Searches the notes.
#[tool]
async fn search(
    /// The text to search for.
    ///
    /// Keywords, not a question.
    query: String,
    /// At most this many.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    mut limit: u8,
    order: Option<Order>,
    #[serde(rename = "in", default)]
    #[expect(unused_variables, reason = "lints are allowed on a parameter")]
    folder: String,
    r#type: Vec<BTreeMap<String, Value>>,
) -> Result<Value, ToolError> {
    limit += 1;
    Ok(json!([query, limit, order.map(|order| order as u8), r#type.len()]))
}

/// Returns the time.
#[tool]
async fn now() -> Result<&'static str, ToolError> {
    Ok("noon")
}

#[tool]
/// Moves it.
#[serde(deny_unknown_fields, rename_all = "camelCase")]
async fn step(step_length: u32) -> Result<u32, ToolError> {
    Ok(step_length)
}

#[tokio::test]
async fn parameters_become_the_schema() {
    let schema = serde_json::to_string_pretty(search_tool().tool().parameters()).unwrap();
    insta::assert_snapshot!(schema, @r#"
    {
      "type": "object",
      "properties": {
        "query": {
          "type": "string",
          "description": "The text to search for.\n\nKeywords, not a question."
        },
        "limit": {
          "type": "integer",
          "format": "uint8",
          "minimum": 1,
          "maximum": 50,
          "description": "At most this many.",
          "default": 10
        },
        "order": {
          "type": [
            "string",
            "null"
          ],
          "enum": [
            "newest",
            "oldest",
            null
          ]
        },
        "in": {
          "type": "string",
          "default": ""
        },
        "type": {
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": true
          }
        }
      },
      "required": [
        "query",
        "type"
      ],
      "additionalProperties": false
    }
    "#);
    let sum = call(&add_tool(), json!({"a": 2, "b": 3})).await;
    assert_eq!(sum.unwrap(), 5);
}

#[tokio::test]
async fn missing_arguments_have_defaults() {
    assert_eq!(required(&search_tool()), json!(["query", "type"]));
    let found = call(&search_tool(), json!({"query": "x", "type": []})).await;
    assert_eq!(found.unwrap(), json!(["x", 11, null, 0]));
    let all = json!({"query": "x", "limit": 4, "order": "oldest", "in": "inbox", "type": [{"a": 1}]});
    assert_eq!(call(&search_tool(), all).await.unwrap(), json!(["x", 5, 1, 1]));
}

#[tokio::test]
async fn errors_contain_the_path() {
    for (arguments, expected) in [
        (json!({"a": 1}), "$: \"b\" is a required property"),
        (json!({"a": 1, "b": "two"}), "$.b: \"two\" is not of type \"integer\""),
    ] {
        let error = call(&add_tool(), arguments).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        assert!(error.model_text().contains(expected), "{}", error.model_text());
    }
}

#[tokio::test]
async fn a_tool_without_parameters_has_an_empty_schema() {
    assert_eq!(now_tool().tool().parameters()["type"], "object");
    assert_eq!(now_tool().tool().parameters()["properties"], json!({}));
    assert_eq!(required(&now_tool()), json!([]));
    assert_eq!(call(&now_tool(), json!({})).await.unwrap(), "noon");
}

#[tokio::test]
async fn serde_attributes_on_the_function_apply_to_the_arguments() {
    assert_eq!(property(&step_tool(), "stepLength")["type"], "integer");
    assert_eq!(step_tool().tool().parameters()["additionalProperties"], false);
    assert_eq!(call(&step_tool(), json!({"stepLength": 3})).await.unwrap(), 3);
    let error = call(&step_tool(), json!({"stepLength": 3, "x": 1})).await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
}

macro_rules! echo {
    ($name:ident, $doc:literal, $argument:ident: $ty:ty) => {
        #[doc = $doc]
        #[tool]
        async fn $name($argument: $ty, context: agcore_tools::ToolContext) -> Result<$ty, ToolError> {
            let _ = context;
            Ok($argument)
        }
    };
}
echo!(echo, "Returns its argument.", arguments: Vec<u8>);

#[tokio::test]
async fn works_inside_other_macros_and_with_any_names() {
    assert_eq!(echo_tool().tool().description(), "Returns its argument.");
    assert_eq!(call(&echo_tool(), json!({"arguments": [1]})).await.unwrap(), json!([1]));
}

/// A point on the map.
#[arguments]
#[serde(rename_all = "camelCase")]
struct Place {
    /// In degrees.
    latitude_north: f64,
    kind: Kind,
}

#[arguments]
#[serde(rename_all = "lowercase")]
enum Kind {
    City,
    River,
}

/// Describes a place.
#[tool(unknown_members)]
async fn describe(place: Place) -> Result<String, ToolError> {
    let kind = match place.kind {
        Kind::City => "city",
        Kind::River => "river",
    };
    Ok(format!("a {kind} at {}", place.latitude_north))
}

#[tokio::test]
async fn the_attribute_arguments_derives_all_that_a_type_needs() {
    let schema = property(&describe_tool(), "place");
    assert_eq!(schema["description"], "A point on the map.");
    assert_eq!(schema["properties"]["kind"]["enum"], json!(["city", "river"]));
    let arguments = json!({"place": {"latitudeNorth": 1.5, "kind": "city"}, "zoom": 2});
    assert_eq!(call(&describe_tool(), arguments).await.unwrap(), "a city at 1.5");
}

/// A part that contains others of its own type, and parts that the usual traits do not read.
#[arguments]
struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Self>,
    #[serde(skip)]
    cache: Option<std::time::Instant>,
    #[cfg(any())]
    never: DoesNotExist,
}

/// Counts.
#[tool]
async fn count(tree: Tree) -> usize {
    fn size(tree: &Tree) -> usize {
        usize::from(tree.cache.is_none() && !tree.name.is_empty()) + tree.children.iter().map(size).sum::<usize>()
    }
    size(&tree)
}

#[tokio::test]
async fn types_may_contain_themselves_and_members_that_are_not_read() {
    let tree = json!({"name": "a", "children": [{"name": "b"}, {"name": "c", "children": [{"name": "d"}]}]});
    assert_eq!(call(&count_tool(), json!({"tree": tree})).await.unwrap(), 4);
}
