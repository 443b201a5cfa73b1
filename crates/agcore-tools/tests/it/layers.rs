//! Layers around a call: redaction, offloading, cutting, an application's own, and their order.

use std::{borrow::Cow, sync::Arc};

use agcore_chat::ContentPart;
use agcore_tools::{
    NoArguments, PreparedCall, ToolError, ToolOutput,
    layer::{Artifact, ArtifactStore, InMemoryArtifacts, Invoke, Layer, OffloadLayer, Redactor},
    typed,
};
use async_trait::async_trait;
use serde_json::json;

use crate::support::{error_text, executor_of, settle, text};

struct NoKeys;

impl Redactor for NoKeys {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.contains("sk-123") {
            Cow::Owned(text.replace("sk-123", "[key]"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

fn says(output: impl Fn() -> ToolOutput + Send + Sync + 'static) -> impl agcore_tools::BaseTool + 'static {
    typed("says", "Says.", move |_: NoArguments| {
        let output = output();
        async move { Ok(output) }
    })
}

#[tokio::test]
async fn secrets_are_taken_out_of_all_text() {
    let tool = says(|| {
        ToolOutput::content_and_value(
            vec![ContentPart::text("key sk-123"), ContentPart::text("none")],
            json!({"a": ["sk-123", 1], "b": {"c": "x sk-123"}}),
        )
        .with_metadata(json!("sk-123"))
    });
    let executor = executor_of([tool]).redactor(Arc::new(NoKeys)).build().unwrap();
    let outcome = settle(&executor, "says", json!({})).await;
    assert!(!format!("{outcome:?}").contains("sk-123"), "{outcome:?}");
    assert_eq!(text(&outcome), "key [key]none");

    let fails = typed("fails", "Fails.", |_: NoArguments| async move {
        Err::<u8, _>("refused: sk-123".into())
    });
    let executor = executor_of([fails]).redactor(Arc::new(NoKeys)).build().unwrap();
    assert_eq!(
        error_text(&settle(&executor, "fails", json!({})).await),
        "refused: [key]"
    );
}

#[tokio::test]
async fn large_results_are_kept_elsewhere_without_their_secrets() {
    let store = Arc::new(InMemoryArtifacts::new());
    let layer = OffloadLayer::new(store.clone()).with_over(20).with_preview(10);
    let executor = executor_of([says(|| ToolOutput::text("sk-123 and thirty more bytes"))])
        .redactor(Arc::new(NoKeys))
        .offload(layer.clone())
        .build()
        .unwrap();
    let told = text(&settle(&executor, "says", json!({})).await);
    assert_eq!(
        told,
        "[key] and \n[the first 10 of 27 bytes; the whole is kept as artifact-1]"
    );
    let artifact = store.get("artifact-1").unwrap();
    assert_eq!(
        (artifact.text.as_str(), artifact.media_type),
        ("[key] and thirty more bytes", "text/plain")
    );
    assert_eq!(
        (&*artifact.tool, &*artifact.call_id, &*artifact.session_id),
        ("says", "call", "session")
    );
    assert!(store.get("artifact-2").is_err());

    // JSON values stay JSON while they are small, and are kept as JSON text when they are not.
    let numbers: Vec<u32> = (0..20).collect();
    for (count, kept) in [(3, false), (20, true)] {
        let value = json!(numbers[..count]);
        let executor = executor_of([says(move || ToolOutput::value(value.clone()))]).offload(layer.clone());
        let told = text(&settle(&executor.build().unwrap(), "says", json!({})).await);
        assert_eq!(told.contains("artifact"), kept, "{told}");
    }
    assert_eq!(store.get("artifact-2").unwrap().media_type, "application/json");
}

struct Full;

#[async_trait]
impl ArtifactStore for Full {
    async fn put(&self, _: &Artifact) -> Result<String, ToolError> {
        Err(ToolError::failed("disk full"))
    }
}

#[tokio::test]
async fn what_cannot_be_kept_is_cut() {
    let layer = OffloadLayer::new(Arc::new(Full)).with_over(20);
    let executor = executor_of([says(|| ToolOutput::text("x".repeat(50)))])
        .offload(layer)
        .max_result_bytes(30)
        .build()
        .unwrap();
    let told = text(&settle(&executor, "says", json!({})).await);
    assert_eq!(
        told,
        format!(
            "{}\n[cut here: the first 30 of 50 bytes; ask for less at a time]",
            "x".repeat(30)
        )
    );
}

/// Adds a letter to the text, to show the order.
struct Letter(char);
struct Lettered<S>(S, char);

impl<S: Invoke> Layer<S> for Letter {
    type Invoke = Lettered<S>;
    fn layer(&self, inner: S) -> Lettered<S> {
        Lettered(inner, self.0)
    }
}

impl<S: Invoke> Invoke for Lettered<S> {
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
async fn each_layer_goes_around_those_before_it() {
    let executor = executor_of([says(|| ToolOutput::text("-"))])
        .layer(Letter('a'))
        .layer(Letter('b'))
        .build()
        .unwrap();
    assert_eq!(text(&settle(&executor, "says", json!({})).await), "-ab");
}

struct Explodes;
struct Exploding;

impl<S: Invoke> Layer<S> for Explodes {
    type Invoke = Exploding;
    fn layer(&self, _: S) -> Exploding {
        Exploding
    }
}

impl Invoke for Exploding {
    async fn invoke(&self, _: &PreparedCall) -> Result<ToolOutput, ToolError> {
        panic!("a layer")
    }
}

#[tokio::test]
async fn a_layers_panic_stays_within_its_call() {
    let executor = executor_of([says(|| ToolOutput::text("-"))])
        .layer(Explodes)
        .build()
        .unwrap();
    assert!(error_text(&settle(&executor, "says", json!({})).await).contains("fault in the tool itself"));
}
