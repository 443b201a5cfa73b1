//! Tools that block their thread: neighbours, timeouts, cancellation and progress continue.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use agcore_chat::{Progress, ToolExecutor, ToolOutcome, ToolReport};
use agcore_tools::{NoArguments, ToolAnnotations, ToolContext, ToolError, typed};
use futures_util::StreamExt;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{context_builder, error_text, fatal_text, progress_and_results, registry, settle, text, work};

/// Blocks a thread until the gate is opened by dropping its sender.
#[derive(Clone)]
struct Gate(Arc<Mutex<mpsc::Receiver<()>>>);

impl Gate {
    fn new() -> (mpsc::Sender<()>, Self) {
        let (sender, receiver) = mpsc::channel();
        (sender, Self(Arc::new(Mutex::new(receiver))))
    }

    fn wait(&self) {
        // Ends with an error when the sender is dropped.
        let _ = self.0.lock().unwrap().recv();
    }
}

fn blocks(gate: &Gate, is_declared: bool) -> impl agcore_tools::BaseTool + 'static {
    let gate = gate.clone();
    typed(
        "blocks",
        "Blocks its thread.",
        move |_: NoArguments, context: ToolContext| {
            let gate = gate.clone();
            async move {
                context.report_progress(Progress::message("blocked"));
                gate.wait();
                Ok("unblocked")
            }
        },
    )
    .with_blocking(is_declared)
    .with_annotations(ToolAnnotations::new().with_concurrency_key("gate"))
}

async fn a_neighbour_ends_first(is_declared: bool) {
    let (sender, gate) = Gate::new();
    let tools = registry([blocks(&gate, is_declared)]);
    tools
        .register(typed("quick", "Is quick.", |_: NoArguments| async { Ok("done") }))
        .unwrap();
    let executor = tools.executor(context_builder().build()).build().unwrap();
    let mut reports =
        progress_and_results(executor.execute(vec![work("a", "blocks", &json!({})), work("b", "quick", &json!({}))]));
    let (mut is_blocked, mut ended) = (false, Vec::new());
    let mut sender = Some(sender);
    while let Some(report) = reports.next().await {
        match report {
            ToolReport::Progress { call_id, .. } => is_blocked |= call_id == "a",
            ToolReport::Settled { call_id, outcome, .. } => {
                text(&outcome);
                ended.push(call_id.to_string());
            }
            _ => {}
        }
        // The gate opens only after the neighbour has ended and the progress has arrived.
        if is_blocked && ended == ["b"] {
            sender.take();
        }
    }
    assert_eq!(ended, ["b", "a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neighbours_and_progress_continue_on_many_threads() {
    a_neighbour_ends_first(false).await;
    a_neighbour_ends_first(true).await;
}

#[tokio::test]
async fn neighbours_and_progress_continue_beside_a_declared_tool_on_one_thread() {
    a_neighbour_ends_first(true).await;
}

async fn a_timeout_holds(is_declared: bool) {
    let (sender, gate) = Gate::new();
    let tools = registry([blocks(&gate, is_declared)]);
    let executor = tools
        .executor(context_builder().build())
        .with_timeout(Some(Duration::from_millis(1)))
        .build()
        .unwrap();
    let shown = error_text(&settle(&executor, "blocks", json!({})).await);
    assert!(shown.starts_with("blocks did not finish within 1ms"), "{shown}");

    // The tool still blocks its thread, so its concurrency key is still in use.
    let again = settle(&executor, "blocks", json!({}));
    let mut again = std::pin::pin!(again);
    assert!(futures_util::FutureExt::now_or_never(again.as_mut()).is_none());
    drop(sender);
    again.await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timeouts_hold_on_many_threads() {
    a_timeout_holds(false).await;
    a_timeout_holds(true).await;
}

#[tokio::test]
async fn timeouts_hold_for_a_declared_tool_on_one_thread() {
    a_timeout_holds(true).await;
}

#[tokio::test]
async fn a_blocked_call_can_be_cancelled() {
    let (sender, gate) = Gate::new();
    let token = CancellationToken::new();
    let context = context_builder().with_cancellation(token.clone()).build();
    let executor = registry([blocks(&gate, true)]).executor(context).build().unwrap();
    let mut reports = progress_and_results(executor.execute(vec![work("a", "blocks", &json!({}))]));
    assert!(matches!(reports.next().await, Some(ToolReport::Progress { .. })));
    token.cancel();
    let Some(ToolReport::Settled { outcome, .. }) = reports.next().await else {
        panic!("the call did not end")
    };
    assert_eq!(fatal_text(&outcome), "the call was cancelled");
    drop(sender);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_stream_drops_the_tool() {
    struct Dropped(Option<tokio::sync::oneshot::Sender<()>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.take().map(|sender| sender.send(()));
        }
    }
    let (sender, dropped) = tokio::sync::oneshot::channel();
    let guard = Arc::new(Mutex::new(Some(Dropped(Some(sender)))));
    let tool = typed("hangs", "Hangs.", move |_: NoArguments, context: ToolContext| {
        let guard = guard.clone();
        async move {
            let _guard = guard.lock().unwrap().take();
            context.report_progress(Progress::message("started"));
            std::future::pending::<Result<(), ToolError>>().await
        }
    });
    let executor = registry([tool]).executor(context_builder().build()).build().unwrap();
    let mut reports = progress_and_results(executor.execute(vec![work("a", "hangs", &json!({}))]));
    assert!(matches!(reports.next().await, Some(ToolReport::Progress { .. })));
    drop(reports);
    dropped.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panics_are_caught_on_every_kind_of_thread() {
    for is_declared in [false, true] {
        let tool = typed("panics", "Panics.", |_: NoArguments| async {
            panic!("oh no") as Result<(), ToolError>
        })
        .with_blocking(is_declared);
        let executor = registry([tool]).executor(context_builder().build()).build().unwrap();
        let outcome: ToolOutcome = settle(&executor, "panics", json!({})).await;
        assert_eq!(
            error_text(&outcome),
            "panics failed because of a bug in the tool itself; continue without it"
        );
    }
}
