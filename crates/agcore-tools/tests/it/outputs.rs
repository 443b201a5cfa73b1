//! The shapes of a tool's output, and the parts that the model and observers receive.

use agcore_chat::{Content, ContentPart, Progress, ToolOutcome, ToolReport};
use agcore_tools::{NoArguments, OutputItem, ToolAnnotations, ToolError, ToolOutput, typed};
use futures_util::stream;
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::{error_text, executor_for, reports, settle, text, work};

async fn outcome_of(
    annotations: ToolAnnotations,
    output: impl Fn() -> ToolOutput + Send + Sync + 'static,
) -> ToolOutcome {
    let tool = typed("t", "Returns an output.", move |_: NoArguments| {
        let output = output();
        async move { Ok(output) }
    });
    let executor = executor_for([tool.with_annotations(annotations)]).build().unwrap();
    settle(&executor, "t", json!({})).await
}

#[tokio::test]
async fn the_model_receives_values_as_text() {
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
async fn the_model_receives_rich_content_and_observers_its_json_form() {
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
async fn the_model_never_receives_hints_or_metadata() {
    let output = || {
        ToolOutput::text("x")
            .with_ui_hints(json!({"card": 1}))
            .with_metadata(json!("m"))
    };
    for (stable, display) in [
        (true, json!({"ui_hints": {"card": 1}, "metadata": "m"})),
        // Hints of a tool without a stable display are dropped.
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
async fn a_handoff_ends_the_turn() {
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
    let executor = executor_for([tool]).build().unwrap();
    reports(&executor, vec![work("t", "t", &json!({}))]).await
}

#[tokio::test]
async fn parts_are_progress_and_the_final_item_is_the_output() {
    let reports = streamed(|| {
        let parts = ["a", "b"].map(|part| Ok(OutputItem::Part(part.into())));
        parts
            .into_iter()
            .chain([Ok(OutputItem::final_output("ab")), Ok(OutputItem::Part("late".into()))])
            .collect()
    })
    .await;
    assert_eq!(reports.len(), 3);
    assert_eq!(
        reports[1],
        ToolReport::Progress {
            call_id: "t".into(),
            progress: Progress::part("b".into())
        }
    );
    let ToolReport::Settled { outcome, .. } = &reports[2] else {
        panic!()
    };
    assert_eq!(text(outcome), "ab");
}

#[tokio::test]
async fn a_stream_without_a_final_output_is_an_error() {
    for (items, expected) in [
        (
            (|| vec![Ok(OutputItem::Part(1.into()))]) as fn() -> Items,
            "the tool's output stream ended without a final output",
        ),
        (|| vec![Err("the source dried up".into())], "the source dried up"),
        (
            || vec![Ok(OutputItem::final_output(ToolOutput::stream(stream::empty())))],
            "the tool's output stream ended with another stream",
        ),
    ] {
        let reports = streamed(items).await;
        let Some(ToolReport::Settled { outcome, .. }) = reports.last() else {
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
async fn any_serializable_value_is_an_output() {
    let tool = typed("w", "Weather.", |_: NoArguments| async move {
        Ok(Weather {
            city: "Rome",
            degrees: 21.5,
        })
    });
    let executor = executor_for([tool]).build().unwrap();
    assert_eq!(
        text(&settle(&executor, "w", json!({})).await),
        r#"{"city":"Rome","degrees":21.5}"#
    );
}
