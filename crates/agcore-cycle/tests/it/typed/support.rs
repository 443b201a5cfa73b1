//! Shared helpers of the tests of typed output: a type, providers, answers.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, ChatRequest, FinishReason, Message, ResponseFormat, Tool, validate_messages};
use agcore_cycle::{
    CycleError, LlmCycle, Output, OutputMode, TurnOptions, Typed, TypedOptions, TypedOutcome,
    machine::Begin,
    typed::schemars::{self, JsonSchema},
};
use agcore_llm::{Capabilities, ProviderInfo};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::cycle;

/// A day's weather.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub(super) struct Weather {
    pub(super) city: String,
    /// In degrees Celsius.
    pub(super) degrees: i32,
    pub(super) sky: Option<Color>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Color {
    Blue,
    Grey,
}

pub(super) const OSLO: &str = r#"{"city": "Oslo", "degrees": 7, "sky": "grey"}"#;

pub(super) fn oslo() -> Weather {
    Weather {
        city: "Oslo".into(),
        degrees: 7,
        sky: Some(Color::Grey),
    }
}

/// Returns a scripted model with these capabilities.
pub(super) fn model(json_schema: bool, tools: bool, steps: impl IntoIterator<Item = ScriptStep>) -> ScriptedProvider {
    let mut capabilities = Capabilities::default();
    (capabilities.json_schema, capabilities.tools) = (json_schema, tools);
    let info = ProviderInfo::new("scripted", "script-1").with_capabilities(capabilities);
    ScriptedProvider::new(steps).with_info(info)
}

/// Returns a scripted model whose capabilities lead to this mode.
pub(super) fn model_for(mode: OutputMode, steps: impl IntoIterator<Item = ScriptStep>) -> ScriptedProvider {
    model(mode == OutputMode::Native, mode != OutputMode::Prompt, steps)
}

pub(super) const MODES: [OutputMode; 3] = [OutputMode::Native, OutputMode::Tool, OutputMode::Prompt];

/// Returns this text as the answer of the model in this mode.
pub(super) fn answer(mode: OutputMode, text: &str) -> ScriptStep {
    match mode {
        OutputMode::Tool => ScriptStep::calls([crate::support::call("c", "final_answer", text)]),
        _ => ScriptStep::text(text),
    }
}

/// Like [`answer`], with another finish reason.
pub(super) fn stopped(mode: OutputMode, text: &str, finish: FinishReason) -> ScriptStep {
    let message = match mode {
        OutputMode::Tool => crate::support::assistant([crate::support::call("c", "final_answer", text)]),
        _ => AssistantMessage::new(text),
    };
    ScriptStep::message(message, finish)
}

pub(super) fn question() -> Begin {
    Begin::new([Message::user("How is the weather in Oslo?")])
}

pub(super) async fn run(cycle: &mut LlmCycle, options: TypedOptions) -> Result<Typed<Weather>, CycleError> {
    let outcome = cycle
        .turn(question())
        .with_options(TurnOptions::new())
        .typed_as(Output::<Weather>::new(options));
    let outcome: Result<TypedOutcome<Weather>, CycleError> = outcome.await;
    validate_messages(cycle.messages()).expect("the history is valid");
    outcome?.finished()
}

/// Runs a turn with the default options.
pub(super) async fn run_default(provider: &ScriptedProvider) -> (Result<Typed<Weather>, CycleError>, LlmCycle) {
    let mut cycle = cycle(provider);
    let typed = run(&mut cycle, TypedOptions::new()).await;
    (typed, cycle)
}

/// Returns the schema in a request, in any mode.
pub(super) fn schema_of(request: &ChatRequest) -> Value {
    match (&request.response_format, request.tools.last()) {
        (Some(ResponseFormat::JsonSchema(format)), _) => format.schema.clone().unwrap(),
        (_, Some(Tool::Function(tool))) => tool.parameters.clone().unwrap(),
        _ => {
            let text = request.messages[0].text().into_owned();
            let begin = text.find("\n{").expect("a schema in the instructions");
            serde_json::from_str(&text[begin..]).unwrap()
        }
    }
}

/// A schema check that rejects Oslo.
#[derive(Debug)]
pub(super) struct NotOslo;

impl agcore_chat::SchemaCheck for NotOslo {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), Vec<agcore_chat::SchemaViolation>> {
        assert_eq!(
            schema["properties"]["city"],
            json!({"type": "string"}),
            "the type's own schema"
        );
        if value["city"] == "Oslo" {
            let message = "`Oslo` is not allowed; expected another city";
            return Err(vec![agcore_chat::SchemaViolation::new("$.city", message)]);
        }
        Ok(())
    }
}

pub(super) fn shared<T>(value: T) -> Arc<T> {
    Arc::new(value)
}
