//! Tools: the attribute without options, and validation by the default features.

use agcore::{
    chat::ToolCall,
    tools::{
        Arguments, BaseTool, InvokeOptions, SystemClock, ToolContext, ToolError, ToolErrorKind, ToolOutput,
        ToolRegistry, arguments, tool,
    },
};
use async_trait::async_trait;
use serde_json::{Value, json};

/// The sky.
#[arguments]
#[serde(rename_all = "lowercase")]
enum Sky {
    Clear,
    Cloudy,
}

/// Forecasts the weather.
#[tool(read_only)]
async fn forecast(
    /// The name of the city.
    city: String,
    sky: Sky,
    days: Option<u8>,
) -> Result<String, String> {
    let sky = match sky {
        Sky::Clear => "clear",
        Sky::Cloudy => "cloudy",
    };
    Ok(format!("{city}: {sky} for {} days", days.unwrap_or(1)))
}

fn context() -> ToolContext {
    ToolContext::builder(std::sync::Arc::new(SystemClock::new())).build()
}

#[tokio::test]
async fn the_attribute_works_without_options_and_dependencies() {
    let tools = ToolRegistry::new();
    tools.register_all([forecast_tool()]).unwrap();
    let call = ToolCall::function("call_1", "forecast", r#"{"city": "Rome", "sky": "clear"}"#);
    let done = tools.invoke(call, &context()).await;
    assert_eq!(done.result.unwrap().as_value(), Some(&"Rome: clear for 1 days".into()));
    assert_eq!(
        forecast("Oslo".to_owned(), Sky::Cloudy, Some(2)).await.unwrap(),
        "Oslo: cloudy for 2 days"
    );
}

/// A tool that is written by hand.
struct Count(Value);

#[async_trait]
impl BaseTool for Count {
    fn name(&self) -> &str {
        "count"
    }

    fn description(&self) -> &str {
        "Counts."
    }

    fn parameters(&self) -> &Value {
        &self.0
    }

    async fn execute(&self, _: &Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("ran"))
    }
}

#[tokio::test]
async fn arguments_of_tools_written_by_hand_are_validated() {
    let tools = ToolRegistry::new();
    let schema = json!({
        "type": "object", "required": ["n"], "additionalProperties": false,
        "properties": {"n": {"type": "integer", "maximum": 3}},
    });
    tools.register(Count(schema)).unwrap();
    let calls = ["{}", r#"{"n":"x"}"#, r#"{"n":99,"z":1}"#, r#"{"n":3}"#];
    let calls = calls.map(|arguments| ToolCall::function("call", "count", arguments));
    let done = tools.invoke_all(calls, &context(), InvokeOptions::new()).await;
    let kinds: Vec<_> = done
        .iter()
        .map(|done| done.result.as_ref().err().map(ToolError::kind))
        .collect();
    let invalid = Some(ToolErrorKind::InvalidArguments);
    assert_eq!(kinds, [invalid, invalid, invalid, None]);
}

#[test]
fn broken_schemas_are_refused_at_registration() {
    let broken = Count(json!({"type": "object", "properties": {"n": {"type": "intger"}}}));
    let error = ToolRegistry::new().register(broken).unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Config);
    assert!(error.to_string().contains("intger"), "{error}");
}
