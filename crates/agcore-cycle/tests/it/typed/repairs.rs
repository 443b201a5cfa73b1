//! Answers that do not fit: hints, limits, truncation, refusals.

use agcore_chat::{AssistantMessage, FinishReason, Message, Origin, SchemaCheck, SchemaViolation};
use agcore_cycle::{CycleErrorKind, Output, OutputError, OutputMode, TurnOptions, TypedOptions};
use agcore_llm::LlmErrorKind;
use agcore_testkit::scripted::ScriptStep;
use serde_json::Value;

use super::support::{
    MODES, NotOslo, OSLO, Weather, answer, model_for, oslo, question, run, run_default, shared, stopped,
};
use crate::support::cycle;

const BAD: &str = r#"{"city": "Oslo", "degrees": "warm"}"#;

/// Returns the last message before the last answer of the model.
fn last_hint(provider: &agcore_testkit::scripted::ScriptedProvider) -> String {
    provider
        .requests()
        .last()
        .unwrap()
        .messages
        .last()
        .unwrap()
        .text()
        .into_owned()
}

#[tokio::test]
async fn the_model_corrects_an_answer_that_does_not_fit() {
    for mode in MODES {
        let provider = model_for(mode, [answer(mode, BAD), answer(mode, OSLO)]);
        let (typed, cycle) = run_default(&provider).await;
        let typed = typed.unwrap();
        assert_eq!((typed.value, typed.repairs, typed.report.usage.calls), (oslo(), 1, 2));
        let hint = last_hint(&provider);
        assert!(
            hint.contains("$.degrees: invalid type: string \"warm\", expected i32"),
            "{hint}"
        );
        assert_eq!(hint.contains("Call `final_answer` again"), mode == OutputMode::Tool);
        let hints = cycle
            .messages()
            .iter()
            .filter(|message| matches!(&***message, Message::User(user) if user.marks.origin == Some(Origin::Hint)));
        assert_eq!(hints.count(), usize::from(mode != OutputMode::Tool));
        let errors = cycle
            .messages()
            .iter()
            .filter(|message| matches!(&***message, Message::Tool(result) if result.marks.is_error));
        assert_eq!(
            errors.count(),
            usize::from(mode == OutputMode::Tool),
            "the rejected call has an error result"
        );
    }
}

#[tokio::test]
async fn an_answer_that_never_fits_is_a_typed_error() {
    for mode in MODES {
        for repairs in [0, 1, 3] {
            let steps = (0..=repairs).map(|_| answer(mode, BAD));
            let provider = model_for(mode, steps);
            let mut cycle = cycle(&provider);
            let error = run(&mut cycle, TypedOptions::new().with_max_repairs(repairs))
                .await
                .unwrap_err();
            assert_eq!(error.kind(), CycleErrorKind::InvalidOutput);
            assert!(!error.is_retryable());
            assert_eq!(
                provider.requests().len(),
                repairs as usize + 1,
                "the number of calls is limited"
            );
            assert_eq!(cycle.usage().calls, u64::from(repairs) + 1, "all calls are counted");
            assert_eq!(cycle.usage().usage.total(), Some(15 * (u64::from(repairs) + 1)));
            assert!(
                !error.to_string().contains("warm"),
                "the message does not quote the model: {error}"
            );
            assert!(error.to_string().contains("$.degrees"), "{error}");
            assert!(error.partial().is_some());
            let source = std::error::Error::source(&error)
                .unwrap()
                .downcast_ref::<OutputError>()
                .unwrap();
            assert_eq!(
                (source.violations[0].path.as_str(), source.text.as_str()),
                ("$.degrees", BAD)
            );
            // The conversation continues.
            provider.push(ScriptStep::text("ok"));
            assert!(!cycle.machine().is_open());
            cycle.turn("Never mind.").await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_truncated_answer_never_counts() {
    for mode in MODES {
        // It can be parsed, but it is unknown what was cut off.
        for text in [OSLO, &OSLO[..20]] {
            let truncated = stopped(mode, text, FinishReason::Length);
            let provider = model_for(mode, [truncated, answer(mode, OSLO)]);
            let typed = run_default(&provider).await.0.unwrap();
            assert_eq!((typed.value, typed.repairs), (oslo(), 1));
            assert!(last_hint(&provider).contains("cut off at the token limit"));
        }
    }
}

#[tokio::test]
async fn refusals_are_not_repaired() {
    for mode in MODES {
        let refused = AssistantMessage {
            refusal: Some("I would rather not.".into()),
            ..AssistantMessage::default()
        };
        for step in [
            ScriptStep::message(refused.clone(), FinishReason::Stop),
            stopped(mode, &OSLO[..20], FinishReason::ContentFilter),
        ] {
            let provider = model_for(mode, [step, answer(mode, OSLO)]);
            let (error, cycle) = run_default(&provider).await;
            assert_eq!(
                error.unwrap_err().llm_error().unwrap().kind(),
                LlmErrorKind::ContentFilter
            );
            assert_eq!(provider.unused(), 1);
            assert!(!cycle.machine().is_open());
        }
    }
}

#[tokio::test]
async fn invalid_json_is_quoted_briefly() {
    for (text, expected) in [
        (
            "It rains.",
            "found no JSON object in the answer, which begins with `It rains.`",
        ),
        ("", "the answer is empty"),
        ("{\"city\": \"Oslo\",}", "trailing comma at line 1 column 17, near `"),
        ("{\"city\": \"Oslo\"", "EOF while parsing"),
    ] {
        let mode = OutputMode::Native;
        let provider = model_for(mode, [answer(mode, text), answer(mode, OSLO)]);
        run_default(&provider).await.0.unwrap();
        let hint = last_hint(&provider);
        assert!(hint.contains(expected), "{hint}");
    }
}

#[tokio::test]
async fn a_schema_check_is_applied() {
    let rome = r#"{"city": "Rome", "degrees": 20}"#;
    let provider = model_for(OutputMode::Native, [ScriptStep::text(OSLO), ScriptStep::text(rome)]);
    let options = TypedOptions::new().with_check(shared(NotOslo));
    let typed = run(&mut cycle(&provider), options).await.unwrap();
    assert_eq!((typed.value.city.as_str(), typed.repairs), ("Rome", 1));
    assert!(last_hint(&provider).contains("- $.city: `Oslo` is not allowed; expected another city"));
}

#[tokio::test]
async fn only_the_first_of_several_answers_counts() {
    let two = [
        crate::support::call("a", "final_answer", OSLO),
        crate::support::call("b", "final_answer", r#"{"city": "Rome", "degrees": 20}"#),
    ];
    let provider = model_for(OutputMode::Tool, [ScriptStep::calls(two)]);
    let (typed, cycle) = run_default(&provider).await;
    let typed: agcore_cycle::Typed<Weather> = typed.unwrap();
    assert_eq!(typed.value, oslo());
    assert_eq!(cycle.messages().len(), 4);
    assert!(cycle.messages()[3].text().contains("give one answer only"));
}

#[tokio::test]
async fn the_likeliest_of_several_values_is_corrected() {
    let text = format!("For example {{\"city\": 1}}. So:\n{BAD}");
    let provider = model_for(
        OutputMode::Prompt,
        [ScriptStep::text(text), answer(OutputMode::Prompt, OSLO)],
    );
    assert_eq!(run_default(&provider).await.0.unwrap().repairs, 1);
    let hint = last_hint(&provider);
    assert!(hint.contains("- $.degrees: ") && !hint.contains("$.city"), "{hint}");
}

/// A schema check that rejects all items.
#[derive(Debug)]
struct NoItems;

impl SchemaCheck for NoItems {
    fn check(&self, _: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        let items = value.as_array().map_or(0, Vec::len);
        let faults = (0..items).map(|at| SchemaViolation::new(format!("$[{at}]"), "not allowed"));
        if items == 0 { Ok(()) } else { Err(faults.collect()) }
    }
}

#[tokio::test]
async fn violations_have_the_path_in_the_answer_and_are_limited() {
    for mode in MODES {
        let bad = r#"{"value": [1, "x", 3, 4, 5, 6, 7, 8, 9, 10]}"#;
        let provider = model_for(mode, [answer(mode, bad), answer(mode, r#"{"value": []}"#)]);
        let output = Output::<Vec<u8>>::new(TypedOptions::new().with_check(shared(NoItems)));
        let mut cycle = cycle(&provider);
        let outcome = cycle
            .turn(question())
            .with_options(TurnOptions::new())
            .typed_as(output)
            .await
            .unwrap();
        let typed = outcome.finished().unwrap();
        assert_eq!((typed.value, typed.repairs), (Vec::new(), 1));
        let hint = last_hint(&provider);
        assert!(hint.contains("- $.value[1]: invalid type: string \"x\""), "{hint}");
        assert_eq!(hint.matches("$.value[1]").count(), 1, "reported once: {hint}");
        assert!(hint.contains("- $.value[0]: not allowed"), "{hint}");
        assert_eq!(hint.matches("- $").count(), 8, "{hint}");
    }
}
