//! The visibility, attributes and location of the function.

use agcore_tools::{
    ToolError, ToolRegistry,
    schemars::{self, JsonSchema},
    tool,
};
use serde::Deserialize;
use serde_json::json;

use crate::support::call;

mod notes {
    use super::{ToolError, tool};

    fn shout(text: &str) -> String {
        text.to_uppercase()
    }

    /// Converts the text to upper case.
    #[tool]
    #[allow(clippy::let_and_return, reason = "lints are allowed on the function")]
    #[inline]
    pub(super) async fn loud(text: String) -> Result<String, ToolError> {
        let loud = shout(&text);
        Ok(loud)
    }

    /// Is compiled out.
    #[tool]
    #[cfg(any())]
    pub(super) async fn absent(thing: NoSuchType) -> Result<(), ToolError> {
        Ok(())
    }
}

/// A type with a tool as an associated function.
struct Toolbox;

impl Toolbox {
    /// Doubles it.
    #[tool(associated)]
    async fn double(number: i64) -> Result<i64, ToolError> {
        Ok(number * 2)
    }
}

#[tokio::test]
async fn visibility_and_attributes_are_kept() {
    assert_eq!(notes::loud("a".to_owned()).await.unwrap(), "A");
    let loud = notes::loud_tool();
    assert_eq!(call(&loud, json!({"text": "a"})).await.unwrap(), "A");
}

#[tokio::test]
async fn works_inside_an_impl_and_a_function() {
    /// A type that is local to this function.
    #[derive(Deserialize, JsonSchema)]
    struct Local(i64);

    /// Negates it.
    #[tool]
    async fn negate(number: Local) -> Result<i64, ToolError> {
        Ok(-number.0)
    }
    assert_eq!(call(&negate_tool(), json!({"number": 2})).await.unwrap(), -2);
    assert_eq!(call(&Toolbox::double_tool(), json!({"number": 2})).await.unwrap(), 4);
    assert_eq!(Toolbox::double(4).await.unwrap(), 8);
    assert!(format!("{:?}", negate_tool()).contains("negate"));
}

#[tokio::test]
async fn the_body_can_call_the_function_itself() {
    /// Counts down.
    #[tool]
    async fn countdown(from: u32) -> Result<u32, ToolError> {
        match from {
            0 => Ok(0),
            _ => Ok(Box::pin(countdown(from - 1)).await? + 1),
        }
    }
    assert_eq!(call(&countdown_tool(), json!({"from": 5})).await.unwrap(), 5);
    assert_eq!(countdown_tool().tool().name(), "countdown");
}

/// Sums the numbers up to this one.
#[tool(blocking)]
fn sum(to: u64) -> Result<u64, ToolError> {
    Ok((0..=to).sum())
}

#[tokio::test]
async fn a_blocking_tool_is_a_plain_function() {
    assert_eq!(sum(4).unwrap(), 10);
    assert!(sum_tool().tool().is_blocking());
    assert!(!notes::loud_tool().tool().is_blocking());
    assert_eq!(call(&sum_tool(), json!({"to": 4})).await.unwrap(), 10);
}

#[test]
fn tools_of_several_functions_are_registered_together() {
    let tools = ToolRegistry::new();
    tools
        .register_all([notes::loud_tool(), sum_tool().with_tag("math"), Toolbox::double_tool()])
        .unwrap();
    assert_eq!(tools.list().len(), 3);
    assert_eq!(tools.find_by_tag("math")[0].name(), "sum");
}
