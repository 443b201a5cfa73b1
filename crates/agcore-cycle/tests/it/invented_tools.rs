//! Models that call tools although none are offered.

use agcore_cycle::{CycleErrorKind, LlmCycle, Output, OutputMode, TypedOptions};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::{Value, json};

use crate::support::{FnExecutor, call, cycle};

fn stubborn(name: &'static str) -> ScriptedProvider {
    let step = |number: usize| ScriptStep::calls([call(&format!("c{number}"), name, "{}")]);
    ScriptedProvider::new((0..11).map(step))
}

fn output(mode: OutputMode) -> Output<Value> {
    let mut options = TypedOptions::new();
    options.mode = Some(mode);
    Output::with_schema(
        json!({"type": "object", "properties": {"name": {"type": "string"}}}),
        options,
    )
}

fn is_valid(cycle: &LlmCycle) -> bool {
    agcore_chat::validate_messages(cycle.messages()).is_ok()
}

#[tokio::test]
async fn a_typed_turn_ends_soon_if_the_model_keeps_calling_a_tool() {
    for mode in [OutputMode::Native, OutputMode::Tool, OutputMode::Prompt] {
        for tools in [None, Some(FnExecutor::echo(&[]))] {
            let provider = stubborn("search");
            let mut cycle = cycle(&provider);
            let mut turn = cycle.turn("Who?").typed_as(output(mode));
            if let Some(tools) = tools {
                turn = turn.with_tools(tools);
            }
            let error = turn.await.unwrap_err();
            assert_eq!(error.kind(), CycleErrorKind::InvalidOutput, "{mode:?}");
            assert_eq!(
                error.message(),
                "the model keeps calling the tool `search`, but this turn offers no tools; register the tool, or use a model \
                 or a prompt that answers without tools"
            );
            assert_eq!(provider.requests().len(), 3, "{mode:?}");
            assert!(is_valid(&cycle));
        }
    }
}

#[tokio::test]
async fn so_does_a_turn_without_a_type() {
    let provider = stubborn("search");
    let mut cycle = cycle(&provider);
    let error = cycle.turn("Who?").await.unwrap_err();
    assert_eq!(
        (error.kind(), provider.requests().len()),
        (CycleErrorKind::LimitReached, 3)
    );
    assert!(is_valid(&cycle));
}

#[tokio::test]
async fn a_model_that_listens_after_a_hint_may_answer() {
    let calls = |id| ScriptStep::calls([call(id, "search", "{}")]);
    let provider = ScriptedProvider::new([calls("a"), calls("b"), ScriptStep::text("Ada.")]);
    let outcome = cycle(&provider).turn("Who?").await.unwrap();
    assert_eq!(outcome.text(), "Ada.");
}

#[tokio::test]
async fn unknown_names_beside_offered_tools_count_as_rounds() {
    let provider = stubborn("search");
    let mut cycle = cycle(&provider);
    let tools = FnExecutor::echo(&["look"]);
    let error = cycle.turn("Who?").with_tools(tools).await.unwrap_err();
    assert!(error.message().contains("max_tool_turns"), "{error}");
    assert_eq!(provider.requests().len(), 11);
}
