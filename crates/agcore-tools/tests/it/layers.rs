//! Layers around a call: redaction, offloading, truncation, custom layers, and their order.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{ContentPart, Progress, ToolOutcome};
use agcore_tools::{
    NoArguments, OutputItem, ToolContext, ToolError, ToolOutput,
    layer::{Artifact, ArtifactStore, InMemoryArtifacts, Invoke, OffloadSettings, PreparedCall, Redactor, redactor_fn},
    typed,
};
use async_trait::async_trait;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{
    Echo, context_builder, error_text, executor_for, fatal_text, registry, reports, settle, text, work,
};

struct KeyRedactor;

impl Redactor for KeyRedactor {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.contains("sk-123") {
            Cow::Owned(text.replace("sk-123", "[key]"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// A tool that returns this output.
fn returns(output: impl Fn() -> ToolOutput + Send + Sync + 'static) -> impl agcore_tools::BaseTool + 'static {
    typed("t", "Returns a fixed output.", move |_: NoArguments| {
        let output = output();
        async move { Ok(output) }
    })
}

#[tokio::test]
async fn removes_secrets_from_all_text() {
    let tool = returns(|| {
        ToolOutput::content_and_value(
            vec![ContentPart::text("key sk-123"), ContentPart::text("none")],
            json!({"a": ["sk-123", 1], "b": {"c": "x sk-123"}}),
        )
        .with_metadata(json!("sk-123"))
    });
    let executor = executor_for([tool])
        .with_redactor(Arc::new(KeyRedactor))
        .build()
        .unwrap();
    let outcome = settle(&executor, "t", json!({})).await;
    assert!(!format!("{outcome:?}").contains("sk-123"), "{outcome:?}");
    assert_eq!(text(&outcome), "key [key]none");

    let fails = typed("fails", "Fails.", |_: NoArguments| async move {
        Err::<u8, _>("refused: sk-123".into())
    });
    let executor = executor_for([fails])
        .with_redactor(Arc::new(KeyRedactor))
        .build()
        .unwrap();
    assert_eq!(
        error_text(&settle(&executor, "fails", json!({})).await),
        "refused: [key]"
    );
}

#[tokio::test]
async fn observers_see_no_secrets_in_progress_and_streamed_parts() {
    let tool = typed("t", "Streams.", |_: NoArguments, context: ToolContext| async move {
        context.report_progress(Progress::message("read sk-123"));
        let items = [
            Ok(OutputItem::Part(json!({"line": "key sk-123"}))),
            Ok(OutputItem::final_output("done")),
        ];
        Ok(ToolOutput::stream(futures_util::stream::iter(items)))
    });
    let seen = Arc::new(Mutex::new(String::new()));
    let sink = seen.clone();
    let context = context_builder()
        .with_progress(move |_, progress| sink.lock().unwrap().push_str(&format!("{progress:?}")))
        .build();
    let executor = registry([tool])
        .executor(context)
        .with_redactor(redactor_fn(|text| text.replace("sk-123", "[key]").into()))
        .build()
        .unwrap();
    let reports = reports(&executor, vec![work("a", "t", &json!({}))]).await;
    settle(&executor, "t", json!({})).await;
    for shown in [format!("{reports:?}"), seen.lock().unwrap().clone()] {
        assert!(!shown.contains("sk-123"), "{shown}");
        assert!(shown.contains("read [key]") && shown.contains("key [key]"), "{shown}");
    }
}

#[tokio::test]
async fn stores_large_results_without_their_secrets() {
    let store = Arc::new(InMemoryArtifacts::new());
    let settings = OffloadSettings::new(store.clone()).with_threshold(20).with_preview(10);
    let executor = executor_for([returns(|| ToolOutput::text("sk-123 and thirty more bytes"))])
        .with_redactor(Arc::new(KeyRedactor))
        .with_offload(settings.clone())
        .build()
        .unwrap();
    let shown = text(&settle(&executor, "t", json!({})).await);
    assert_eq!(
        shown,
        "[key] and \n[the first 10 of 27 bytes; the full result is stored as artifact-1]"
    );
    let artifact = store.get("artifact-1").unwrap();
    assert_eq!(
        (artifact.text.as_str(), artifact.media_type),
        ("[key] and thirty more bytes", "text/plain")
    );
    assert_eq!(
        (&*artifact.tool, &*artifact.call_id, &*artifact.session_id),
        ("t", "call", "session")
    );
    assert!(store.get("artifact-2").is_err());

    // Small JSON values stay in the conversation, and large ones are stored as JSON text.
    let numbers: Vec<u32> = (0..20).collect();
    for (count, stored) in [(3, false), (20, true)] {
        let value = json!(numbers[..count]);
        let executor = executor_for([returns(move || ToolOutput::value(value.clone()))]).with_offload(settings.clone());
        let shown = text(&settle(&executor.build().unwrap(), "t", json!({})).await);
        assert_eq!(shown.contains("artifact"), stored, "{shown}");
    }
    assert_eq!(store.get("artifact-2").unwrap().media_type, "application/json");
}

struct FullStore;

#[async_trait]
impl ArtifactStore for FullStore {
    async fn put(&self, _: &Artifact) -> Result<String, ToolError> {
        Err(ToolError::failed("disk full"))
    }
}

#[tokio::test]
async fn truncates_results_that_cannot_be_stored() {
    let settings = OffloadSettings::new(Arc::new(FullStore)).with_threshold(20);
    let executor = executor_for([returns(|| ToolOutput::text("x".repeat(200)))])
        .with_offload(settings)
        .with_max_result_bytes(100)
        .build()
        .unwrap();
    let shown = text(&settle(&executor, "t", json!({})).await);
    assert_eq!(
        shown,
        format!(
            "{}\n[truncated: the first 36 of 200 bytes; request less at a time]",
            "x".repeat(36)
        )
    );
}

#[tokio::test]
async fn no_text_exceeds_the_limit() {
    let long = || "x".repeat(1_000);
    let content = move || vec![ContentPart::text(long()), ContentPart::text(long())];
    type Output = fn() -> Result<ToolOutput, ToolError>;
    let outputs: [(&str, Output); 5] = [
        ("text", || Ok("x".repeat(1_000).into())),
        ("value", || Ok(json!(["x".repeat(1_000)]).into())),
        ("divert", || Ok(ToolOutput::divert("x".repeat(1_000), json!(null)))),
        ("error", || Err("x".repeat(1_000).into())),
        ("denied", || Err(ToolError::denied_by_person("t", &"x".repeat(1_000)))),
    ];
    for (name, output) in outputs {
        let tool = typed("t", "Returns or fails.", move |_: NoArguments| async move { output() });
        let executor = executor_for([tool]).with_max_result_bytes(100).build().unwrap();
        let length = match settle(&executor, "t", json!({})).await {
            ToolOutcome::Done(result) => result.content.text().len(),
            ToolOutcome::Divert { content, .. } => content.text().len(),
            other => panic!("{other:?}"),
        };
        assert!(length > 90 && length <= 100, "{name}: {length}");
    }
    let executor = executor_for([returns(move || ToolOutput::content(content()))]);
    let executor = executor.with_max_result_bytes(100).build().unwrap();
    let shown = text(&settle(&executor, "t", json!({})).await);
    assert!(shown.len() > 90 && shown.len() <= 100, "{shown}");
}

/// A layer that appends a letter to the text, to show the order.
struct Append<S>(S, char);

impl<S: Invoke> Invoke for Append<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let output = self.0.invoke(call).await?;
        let value = output
            .as_value()
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned();
        Ok(ToolOutput::text(format!("{value}{}", self.1)))
    }
}

#[tokio::test]
async fn each_layer_wraps_those_added_before_it() {
    let executor = executor_for([returns(|| ToolOutput::text("-"))])
        .with_layer(|inner| Append(inner, 'a'))
        .with_layer(|inner| Append(inner, 'b'))
        .build()
        .unwrap();
    assert_eq!(text(&settle(&executor, "t", json!({})).await), "-ab");
}

struct PanickingLayer;

impl Invoke for PanickingLayer {
    async fn invoke(&self, _: &PreparedCall) -> Result<ToolOutput, ToolError> {
        panic!("a layer")
    }
}

#[tokio::test]
async fn a_panic_of_a_layer_is_confined_to_its_call() {
    let executor = executor_for([returns(|| ToolOutput::text("-"))])
        .with_layer(|_| PanickingLayer)
        .build()
        .unwrap();
    assert!(error_text(&settle(&executor, "t", json!({})).await).contains("a bug in the tool itself"));
}

/// Waits before each call.
struct Slowly<S>(S);

impl<S: Invoke> Invoke for Slowly<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.0.invoke(call).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_does_not_start_if_the_run_is_cancelled_while_a_layer_waits() {
    let (tool, token) = (Echo::new("t"), CancellationToken::new());
    let context = context_builder().with_cancellation(token.clone()).build();
    let executor = registry([tool.clone()]).executor(context);
    let executor = executor.with_layer(Slowly).build().unwrap();
    let ((outcome, _), ()) = tokio::join!(executor.settle(work("c", "t", &json!({}))), async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        token.cancel();
    });
    assert_eq!(fatal_text(&outcome), "the call was cancelled");
    assert_eq!(tool.count(), 0);
}

/// Panics instead of calling.
struct Broken<S>(S);

impl<S: Invoke> Invoke for Broken<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let _unused = &self.0;
        panic!("no layer for {}", call.tool.name())
    }
}

#[tokio::test]
async fn a_layer_that_panics_counts_as_a_failure_of_the_tool() {
    let tools = registry([Echo::new("t")]);
    let executor = tools
        .executor(context_builder().build())
        .with_layer(Broken)
        .build()
        .unwrap();
    let shown = error_text(&settle(&executor, "t", json!({})).await);
    assert!(shown.starts_with("t failed because of a bug"), "{shown}");
    let statistics = tools.get("t").unwrap().statistics();
    assert_eq!((statistics.calls, statistics.failures), (1, 1));
}
