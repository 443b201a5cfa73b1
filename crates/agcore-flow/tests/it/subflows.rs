//! Flows as nodes.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use agcore_chat::StopCheck;
use agcore_flow::{END, Flow, FlowBuilder, FlowErrorKind, NodeContext, NodeError, Step, SubFlow};
use serde_json::Value;

use crate::support::{Events, Path, checkpoints, clock, note, store};

fn outer(inner: Flow<u32>) -> Flow<Path> {
    let sub = SubFlow::new(
        inner,
        |path: &Path| u32::try_from(path.nodes.len()).unwrap(),
        |mut path: Path, number| {
            path.nodes.push(format!("inner {number}"));
            Step::new(path)
        },
    );
    FlowBuilder::new("outer", clock())
        .with_node("before", note)
        .with_node("sub", sub)
        .with_node("after", note)
        .with_edge("before", "sub")
        .with_edge("sub", "after")
        .with_edge("after", END)
        .build()
        .unwrap()
}

fn inner(calls: &Arc<AtomicU32>) -> Flow<u32> {
    let calls = Arc::clone(calls);
    FlowBuilder::new("inner", clock())
        .with_node("first", move |number: u32, _: NodeContext| {
            calls.fetch_add(1, Ordering::SeqCst);
            async move { Ok(Step::new(number + 10)) }
        })
        .with_node("ask", |number: u32, context: NodeContext| async move {
            let more: u32 = context.ask("more", "How many?").await?;
            Ok(Step::new(number + more))
        })
        .with_edge("first", "ask")
        .with_edge("ask", END)
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_check_of_a_run_reaches_the_nodes_of_inner_flows() {
    let inner = FlowBuilder::new("inner", clock())
        .with_node("a", |number: u32, context: NodeContext| async move {
            assert!(!context.stop_check().unwrap().must_stop());
            Ok(Step::new(number))
        })
        .with_edge("a", END)
        .build()
        .unwrap();
    let run = outer(inner).run(Path::default());
    run.with_stop_check(StopCheck::new(|| false)).await.unwrap();
}

#[tokio::test]
async fn questions_and_progress_belong_to_the_outer_run() {
    let calls = Arc::default();
    let checkpoints = checkpoints(&store()).await;
    let flow = outer(inner(&calls));
    let events = Events::default();
    let run = flow.run(Path::default()).with_checkpoints(checkpoints.clone());
    let outcome = run.with_observer(events.observer()).await.unwrap();
    let asked = outcome.interrupts()[0].clone();
    assert_eq!((asked.node.as_str(), asked.key.as_str()), ("sub", "0:ask#1:more"));
    assert!(events.names().contains(&"sub: finish first -> ask".to_owned()));
    // Another process has its own objects.
    let calls_later = Arc::default();
    let flow = outer(inner(&calls_later));
    let outcome = flow.resume(checkpoints).with_answer(asked.id, 5).await.unwrap();
    assert_eq!(outcome.into_state().unwrap().nodes, ["before", "inner 16", "after"]);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(
        calls_later.load(Ordering::SeqCst),
        0,
        "the finished node was not repeated"
    );
}

#[tokio::test]
async fn errors_name_both_nodes() {
    let inner = FlowBuilder::new("inner", clock())
        .with_node("bad", |_: u32, _: NodeContext| async {
            Err(NodeError::permanent("no luck"))
        })
        .with_edge("bad", END)
        .build()
        .unwrap();
    let error = outer(inner).run(Path::default()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.is_recoverable()),
        (FlowErrorKind::NodeFailed, false)
    );
    assert_eq!(
        format!("{error:?}"),
        "the node `sub` failed (NodeFailed): the node `bad` failed: no luck"
    );
}

#[tokio::test]
async fn a_saved_value_is_gone_in_the_next_visit() {
    let flow = FlowBuilder::new("f", clock())
        .with_node("a", |mut state: Path, context: NodeContext| async move {
            assert_eq!(context.saved::<Value>().await?, None);
            context.save(&7).await?;
            assert_eq!(context.saved::<u32>().await?, Some(7));
            assert!(context.saved::<String>().await.is_err());
            state.nodes.push("a".to_owned());
            let next = if state.nodes.len() < 3 { "a" } else { END };
            Ok(Step::new(state).to(next))
        })
        .with_edge("a", "a")
        .with_edge("a", END)
        .with_limit("a", 3)
        .build()
        .unwrap();
    assert_eq!(
        flow.run(Path::default())
            .await
            .unwrap()
            .into_state()
            .unwrap()
            .nodes
            .len(),
        3
    );
}
