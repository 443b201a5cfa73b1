//! Output modes: chosen by capability, by the caller, or after a refusal.

use agcore_chat::{Message, ResponseFormat, Tool, ToolChoice};
use agcore_cycle::{CycleSettings, OutputMode, TurnOptions, TypedOptions, machine::Begin};
use agcore_llm::{LlmError, LlmErrorKind, wire::Unsupported};
use agcore_testkit::scripted::ScriptStep;

use super::support::{MODES, OSLO, Weather, answer, model, model_for, oslo, question, run, run_default, schema_of};
use crate::support::{cycle, lines};

#[tokio::test]
async fn each_mode_returns_the_value() {
    for mode in MODES {
        let provider = model_for(mode, [answer(mode, OSLO)]);
        let (typed, cycle) = run_default(&provider).await;
        let typed = typed.unwrap();
        assert_eq!((typed.value, typed.mode, typed.repairs), (oslo(), mode, 0));
        assert_eq!(typed.report.usage.calls, 1);
        let history: &[&str] = if mode == OutputMode::Tool {
            &[
                "user: How is the weather in Oslo?",
                "assistant: ",
                "tool: The answer was accepted.",
            ]
        } else {
            &["user: How is the weather in Oslo?", &format!("assistant: {OSLO}")]
        };
        assert_eq!(lines(&cycle), history);
        provider.assert_done();
    }
}

#[tokio::test]
async fn native_mode_uses_the_response_format() {
    let provider = model_for(OutputMode::Native, [ScriptStep::text(OSLO)]);
    run_default(&provider).await.0.unwrap();
    let request = &provider.requests()[0];
    let Some(ResponseFormat::JsonSchema(format)) = &request.response_format else {
        panic!("{:?}", request.response_format)
    };
    assert_eq!((format.name.as_str(), format.strict), ("Weather", Some(true)));
    let schema = schema_of(request);
    // Optional properties are required but nullable, because vendors cannot force less.
    assert_eq!(schema["required"], serde_json::json!(["city", "degrees", "sky"]));
    assert_eq!(schema["properties"]["degrees"]["description"], "In degrees Celsius.");
    assert!(request.tools.is_empty());
}

#[tokio::test]
async fn tool_mode_offers_a_tool_and_forces_it() {
    let provider = model_for(OutputMode::Tool, [answer(OutputMode::Tool, OSLO)]);
    run_default(&provider).await.0.unwrap();
    let request = &provider.requests()[0];
    assert_eq!(request.tool_choice, Some(ToolChoice::Function("final_answer".into())));
    assert_eq!(request.response_format, None);
    let Tool::Function(tool) = &request.tools[0] else {
        panic!()
    };
    assert_eq!((tool.name.as_str(), tool.strict), ("final_answer", None));
    assert_eq!(schema_of(request)["required"], serde_json::json!(["city", "degrees"]));
}

#[tokio::test]
async fn a_reasoning_model_is_not_forced_to_call_the_tool() {
    let provider = model_for(OutputMode::Tool, [answer(OutputMode::Tool, OSLO)]);
    let mut cycle = cycle(&provider);
    cycle.settings_mut().request.reasoning_effort = Some("high".into());
    run(&mut cycle, TypedOptions::new()).await.unwrap();
    assert_eq!(provider.requests()[0].tool_choice, None);
}

#[tokio::test]
async fn prompt_mode_extends_the_last_leading_instruction() {
    let provider = model_for(OutputMode::Prompt, [ScriptStep::text(OSLO), ScriptStep::text(OSLO)]);
    let mut bare = cycle(&provider);
    run(&mut bare, TypedOptions::new()).await.unwrap();
    let settings = CycleSettings::new().with_prelude([Message::system("Be brief.")]);
    let mut instructed = cycle(&provider).with_settings(settings);
    let begin = Begin::new([Message::system("Be kind."), Message::user("How is it?")]);
    let output = agcore_cycle::Output::<Weather>::new(TypedOptions::new());
    instructed
        .turn(begin)
        .with_options(TurnOptions::new())
        .typed_as(output)
        .await
        .unwrap();

    let requests = provider.requests();
    assert_eq!(requests[0].messages.len(), 2);
    assert!(
        requests[0].messages[0]
            .text()
            .starts_with("Your final answer must be one JSON object")
    );
    assert_eq!(requests[1].messages.len(), 3);
    assert_eq!(requests[1].messages[0].text(), "Be brief.");
    assert!(
        requests[1].messages[1]
            .text()
            .starts_with("Be kind.\n\nYour final answer must")
    );
    assert!(schema_of(&requests[0])["properties"].is_object());
    assert_eq!(requests[0].response_format, Some(ResponseFormat::JsonObject));
    // The added instructions are not part of the history.
    assert_eq!(lines(&instructed)[0], "system: Be kind.");
}

#[tokio::test]
async fn the_value_is_found_in_prose() {
    for text in [
        format!("```json\n{OSLO}\n```"),
        format!("Let me think {{briefly}}. For example {{\"city\": \"x\"}}. So:\n{OSLO}\nAnything else?"),
        format!("<think>{{}}</think>\n{OSLO}"),
    ] {
        let provider = model_for(OutputMode::Prompt, [ScriptStep::text(text)]);
        assert_eq!(run_default(&provider).await.0.unwrap().value, oslo());
    }
}

#[tokio::test]
async fn tool_mode_accepts_the_value_as_text() {
    let provider = model_for(OutputMode::Tool, [ScriptStep::text(OSLO)]);
    assert_eq!(run_default(&provider).await.0.unwrap().value, oslo());
}

#[tokio::test]
async fn a_chosen_mode_overrides_capabilities() {
    for mode in MODES {
        let provider = model(false, false, [answer(mode, OSLO)]);
        let typed = run(&mut cycle(&provider), TypedOptions::new().with_mode(mode))
            .await
            .unwrap();
        assert_eq!(typed.mode, mode);
    }
}

fn refusal(status: Option<u16>, message: &'static str) -> ScriptStep {
    let error = LlmError::new(LlmErrorKind::InvalidRequest, message);
    ScriptStep::error(match status {
        Some(status) => error.with_status(status),
        // The encoder knows what the vendor accepts.
        None => error.with_unsupported(Unsupported::new("tools")),
    })
}

#[tokio::test]
async fn falls_back_to_the_next_mode_after_a_refusal() {
    let provider = model(
        true,
        true,
        [
            refusal(Some(400), "`response_format` is not supported by this model"),
            refusal(None, "the vendor does not accept the parameters of the tool"),
            ScriptStep::text(OSLO),
        ],
    );
    let (typed, cycle) = run_default(&provider).await;
    let typed = typed.unwrap();
    assert_eq!((typed.value, typed.mode), (oslo(), OutputMode::Prompt));
    assert_eq!(lines(&cycle).len(), 2);
    assert_eq!(
        typed.report.usage.calls, 1,
        "a refused request does not count as a call"
    );
}

#[tokio::test]
async fn other_failures_and_refusals_of_a_chosen_mode_end_the_turn() {
    let check = async |step: ScriptStep, options: TypedOptions| {
        let provider = model(true, true, [step, ScriptStep::text(OSLO)]);
        let mut cycle = cycle(&provider);
        let error = cycle
            .turn(question())
            .with_options(TurnOptions::new())
            .typed_as(agcore_cycle::Output::<Weather>::new(options))
            .await
            .unwrap_err();
        assert_eq!(error.llm_error().unwrap().kind(), LlmErrorKind::InvalidRequest);
        assert!(cycle.messages().is_empty());
        assert_eq!(provider.unused(), 1);
    };
    check(refusal(Some(400), "unknown model"), TypedOptions::new()).await;
    let seed = LlmError::new(LlmErrorKind::InvalidRequest, "no seeds").with_unsupported(Unsupported::new("seed"));
    check(ScriptStep::error(seed), TypedOptions::new()).await;
    let native = TypedOptions::new().with_mode(OutputMode::Native);
    check(refusal(None, "no schemas here"), native).await;
}

#[tokio::test]
async fn a_typed_turn_must_run_and_resume_with_its_type() {
    let provider = model(true, true, []);
    let mut cycle = cycle(&provider);
    let expectation = agcore_cycle::machine::Expectation::new(OutputMode::Native, "", 0);
    let error = cycle
        .turn(question().with_expectation(expectation))
        .with_options(TurnOptions::new())
        .await
        .unwrap_err();
    assert!(error.message().contains("`.typed::<T>()`"), "{error}");
    let resume = agcore_cycle::TurnInput::Resume(Vec::new());
    let output = agcore_cycle::Output::<Weather>::new(TypedOptions::new());
    let error = cycle
        .turn(resume)
        .with_options(TurnOptions::new())
        .typed_as(output)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), agcore_cycle::CycleErrorKind::InvalidInput);
    assert!(!cycle.machine().is_open());
}
