//! The spans of a run and of its nodes.

use std::future::{pending, ready};

use agcore_chat::SystemClock;
use agcore_flow::{END, FlowBuilder, NodeError, Step};
use agcore_testkit::spans::SpanLog;

#[tokio::test]
async fn a_run_contains_its_nodes_and_they_their_work() {
    let log = SpanLog::new();
    let flow = FlowBuilder::new("countdown", SystemClock::new())
        .with_node("count", |left: u32, _| async move {
            drop(tracing::info_span!("work"));
            Ok(if left > 1 {
                Step::new(left - 1).to("count")
            } else {
                Step::new(0).end()
            })
        })
        .with_limit("count", 10)
        .with_edge("count", "count")
        .with_edge("count", END)
        .build()
        .unwrap();
    {
        let _listening = log.listen();
        flow.run(2).await.unwrap();
    }
    let run = log.only("invoke_workflow");
    assert_eq!(run.field("gen_ai.workflow.name"), Some("countdown"));
    assert_eq!(run.field("gen_ai.operation.name"), Some("invoke_workflow"));
    assert_eq!((run.field("error.type"), run.closed), (None, true));
    let nodes = log.named("flow_node");
    assert_eq!(nodes.len(), 2);
    for (node, visit) in nodes.iter().zip(["1", "2"]) {
        assert_eq!(node.parent.as_deref(), Some("invoke_workflow"));
        assert_eq!(node.field("agcore.flow.node"), Some("count"));
        assert_eq!(node.field("agcore.flow.visit"), Some(visit));
    }
    assert!(
        log.named("work")
            .iter()
            .all(|work| work.parent.as_deref() == Some("flow_node"))
    );
}

#[tokio::test]
async fn a_failure_is_that_of_the_node_and_of_the_run() {
    let log = SpanLog::new();
    let flow = FlowBuilder::new("broken", SystemClock::new())
        .with_node("fail", |_: u32, _| async {
            Err::<Step<u32>, _>(NodeError::new("no luck"))
        })
        .with_edge("fail", END)
        .build()
        .unwrap();
    {
        let _listening = log.listen();
        let _ = flow.run(1).await.unwrap_err();
    }
    for name in ["invoke_workflow", "flow_node"] {
        let span = log.only(name);
        assert!(span.field("error.type").is_some(), "{span:?}");
        assert_eq!(span.field("otel.status_code"), Some("ERROR"));
        // The text of the error may contain anything.
        assert!(span.fields.values().all(|value| !value.contains("no luck")), "{span:?}");
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_is_no_success() {
    let log = SpanLog::new();
    let flow = FlowBuilder::new("waits", SystemClock::new())
        .with_node("wait", |_: u32, _| pending::<Result<Step<u32>, NodeError>>())
        .with_edge("wait", END)
        .build()
        .unwrap();
    {
        let _listening = log.listen();
        tokio::select! {
            biased;
            _ = flow.run(1).run() => unreachable!("the node does not end"),
            () = ready(()) => {}
        }
    }
    let run = log.only("invoke_workflow");
    assert_eq!((run.field("error.type"), run.closed), (Some("cancelled"), true));
}
