//! The shapes of a tool's output, and what the model and observers get of them.

use agcore_chat::{Content, ContentPart, Progress, ToolOutcome, ToolReport};
use agcore_tools::{NoArguments, OutputItem, ToolAnnotations, ToolError, ToolOutput, typed};
use futures_util::stream;
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::{error_text, executor_of, reports, settle, text, work};

async fn outcome_of(
    annotations: ToolAnnotations,
    output: impl Fn() -> ToolOutput + Send + Sync + 'static,
) -> ToolOutcome {
    let tool = typed("t", "Gives back.", move |_: NoArguments| {
        let output = output();
        async move { Ok(output) }
    });
    let executor = executor_of([tool.with_annotations(annotations)]).build().unwrap();
    settle(&executor, "t", json!({})).await
}

#[tokio::test]
async fn values_reach_the_model_as_text() {
    for (value, expected) in [
        (json!("plain"), "plain"),
        (json!({"b": 1, "a": [true, null]}), r#"{"b":1,"a":[true,null]}"#),
        (json!(1.5), "1.5"),
        (Value::Null, "null"),
    ] {
        let outcome = outcome_of(ToolAnnotations::new(), move || value.clone().into()).await;
        assert_eq!(text(&outcome), expected);
    }
}

#[tokio::test]
async fn rich_content_reaches_the_model_and_its_json_form_the_observers() {
    let outcome = outcome_of(ToolAnnotations::new(), || {
        let parts = vec![
            ContentPart::text("a picture"),
            ContentPart::image_url("data:image/png;base64,AA=="),
        ];
        ToolOutput::content_and_value(parts, json!({"width": 1}))
    })
    .await;
    let ToolOutcome::Done(result) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(matches!(&result.content, Content::Parts(parts) if parts.len() == 2));
    assert_eq!(result.display.as_deref(), Some(&json!({"structured": {"width": 1}})));
}

#[tokio::test]
async fn hints_and_metadata_never_reach_the_model() {
    let output = || {
        ToolOutput::text("x")
            .with_ui_hints(json!({"card": 1}))
            .with_metadata(json!("m"))
    };
    for (stable, display) in [
        (true, json!({"ui_hints": {"card": 1}, "metadata": "m"})),
        // Hints come only from tools with a stable display.
        (false, json!({"metadata": "m"})),
    ] {
        let outcome = outcome_of(ToolAnnotations::new().with_stable_display(stable), output).await;
        let ToolOutcome::Done(result) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(
            (result.content, result.display),
            (Content::from("x"), Some(Box::new(display)))
        );
    }
}

#[tokio::test]
async fn diverting_ends_the_turn() {
    let outcome = outcome_of(ToolAnnotations::new(), || {
        ToolOutput::divert("over to you", json!({"to": "b"}))
    })
    .await;
    assert_eq!(
        outcome,
        ToolOutcome::Divert {
            content: "over to you".into(),
            data: json!({"to": "b"})
        }
    );
}

type Items = Vec<Result<OutputItem, ToolError>>;

async fn streamed(items: impl Fn() -> Items + Send + Sync + 'static) -> Vec<ToolReport> {
    let tool = typed("t", "Streams.", move |_: NoArguments| {
        let items = items();
        async move { Ok(ToolOutput::stream(stream::iter(items))) }
    });
    let executor = executor_of([tool]).build().unwrap();
    reports(&executor, vec![work("t", "t", &json!({}))]).await
}

#[tokio::test]
async fn parts_are_progress_and_the_last_is_the_output() {
    let told = streamed(|| {
        let parts = ["a", "b"].map(|part| Ok(OutputItem::Part(part.into())));
        parts
            .into_iter()
            .chain([Ok(OutputItem::last("ab")), Ok(OutputItem::Part("late".into()))])
            .collect()
    })
    .await;
    assert_eq!(told.len(), 3);
    assert_eq!(
        told[1],
        ToolReport::Progress {
            call_id: "t".into(),
            progress: Progress::part("b".into())
        }
    );
    let ToolReport::Settled { outcome, .. } = &told[2] else {
        panic!()
    };
    assert_eq!(text(outcome), "ab");
}

#[tokio::test]
async fn a_stream_that_does_not_end_well_is_an_error() {
    for (items, expected) in [
        (
            (|| vec![Ok(OutputItem::Part(1.into()))]) as fn() -> Items,
            "the tool's output stream ended without an output",
        ),
        (|| vec![Err("the source dried up".into())], "the source dried up"),
        (
            || vec![Ok(OutputItem::last(ToolOutput::stream(stream::empty())))],
            "the tool's output stream ended with another stream",
        ),
    ] {
        let told = streamed(items).await;
        let Some(ToolReport::Settled { outcome, .. }) = told.last() else {
            panic!()
        };
        assert_eq!(error_text(outcome), expected);
    }
}

#[derive(Serialize)]
struct Weather {
    city: &'static str,
    degrees: f64,
}

#[tokio::test]
async fn anything_serializable_is_an_output() {
    let tool = typed("w", "Weather.", |_: NoArguments| async move {
        Ok(Weather {
            city: "Rome",
            degrees: 21.5,
        })
    });
    let executor = executor_of([tool]).build().unwrap();
    assert_eq!(
        text(&settle(&executor, "w", json!({})).await),
        r#"{"city":"Rome","degrees":21.5}"#
    );
}
