//! Answers that do not fit: hints, bounds, cuts, refusals.

use agcore_chat::{AssistantMessage, FinishReason, Message, Origin};
use agcore_llm::{LlmErrorKind, OutputError, OutputMode, TypedOptions};
use agcore_testkit::scripted::ScriptStep;

use super::support::{MODES, NotOslo, OSLO, Weather, answer, model_for, oslo, played, run, shared, stopped};
use crate::support::cycle;

const BAD: &str = r#"{"city": "Oslo", "degrees": "warm"}"#;

/// What the model was told before its last answer.
fn told(provider: &agcore_testkit::scripted::ScriptedProvider) -> String {
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
async fn the_model_mends_what_does_not_fit() {
    for mode in MODES {
        let provider = model_for(mode, [answer(mode, BAD), answer(mode, OSLO)]);
        let (typed, cycle) = played(&provider).await;
        let typed = typed.unwrap();
        assert_eq!((typed.value, typed.repairs, typed.report.usage.calls), (oslo(), 1, 2));
        let hint = told(&provider);
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
    }
}

#[tokio::test]
async fn a_model_that_never_fits_ends_in_a_typed_error() {
    for mode in MODES {
        for repairs in [0, 1, 3] {
            let steps = (0..10).map(|_| answer(mode, BAD));
            let provider = model_for(mode, steps);
            let mut cycle = cycle(&provider);
            let error = run(&mut cycle, TypedOptions::new().with_max_repairs(repairs))
                .await
                .unwrap_err();
            assert_eq!(*error.kind(), LlmErrorKind::Malformed);
            assert!(!error.is_retryable());
            assert_eq!(provider.requests().len(), repairs as usize + 1, "bounded calls");
            assert_eq!(cycle.usage().calls, u64::from(repairs) + 1, "all of them counted");
            assert_eq!(cycle.usage().usage.total(), Some(15 * (u64::from(repairs) + 1)));
            assert!(!error.to_string().contains("warm"), "no words of the model: {error}");
            assert!(error.to_string().contains("$.degrees"), "{error}");
            assert!(error.partial().is_some());
            let source = std::error::Error::source(&error)
                .unwrap()
                .downcast_ref::<OutputError>()
                .unwrap();
            assert_eq!(
                (source.faults[0].path.as_str(), source.text.as_str()),
                ("$.degrees", BAD)
            );
            // The conversation goes on.
            provider.push(ScriptStep::text("ok"));
            assert!(!cycle.machine().is_open());
            cycle.submit("Never mind.").await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_cut_answer_never_counts() {
    for mode in MODES {
        // It could be read, but nobody knows what was cut off.
        for text in [OSLO, &OSLO[..20]] {
            let cut = stopped(mode, text, FinishReason::Length);
            let provider = model_for(mode, [cut, answer(mode, OSLO)]);
            let typed = played(&provider).await.0.unwrap();
            assert_eq!((typed.value, typed.repairs), (oslo(), 1));
            assert!(told(&provider).contains("cut at the token limit"));
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
            let (error, cycle) = played(&provider).await;
            assert_eq!(*error.unwrap_err().kind(), LlmErrorKind::ContentFilter);
            assert_eq!(provider.unused(), 1);
            assert!(!cycle.machine().is_open());
        }
    }
}

#[tokio::test]
async fn what_is_no_json_is_quoted_briefly() {
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
        played(&provider).await.0.unwrap();
        let hint = told(&provider);
        assert!(hint.contains(expected), "{hint}");
    }
}

#[tokio::test]
async fn a_schema_check_is_asked_too() {
    let rome = r#"{"city": "Rome", "degrees": 20}"#;
    let provider = model_for(OutputMode::Native, [ScriptStep::text(OSLO), ScriptStep::text(rome)]);
    let options = TypedOptions::new().with_check(shared(NotOslo));
    let typed = run(&mut cycle(&provider), options).await.unwrap();
    assert_eq!((typed.value.city.as_str(), typed.repairs), ("Rome", 1));
    assert!(told(&provider).contains("- $.city: `Oslo` is not wanted; expected another city"));
}

#[tokio::test]
async fn several_answers_in_one_reply_are_one() {
    let two = [
        crate::support::call("a", "final_answer", OSLO),
        crate::support::call("b", "final_answer", r#"{"city": "Rome", "degrees": 20}"#),
    ];
    let provider = model_for(OutputMode::Tool, [ScriptStep::calls(two)]);
    let (typed, cycle) = played(&provider).await;
    let typed: agcore_llm::Typed<Weather> = typed.unwrap();
    assert_eq!(typed.value, oslo());
    assert_eq!(cycle.messages().len(), 4);
    assert!(cycle.messages()[3].text().contains("give one answer only"));
}
