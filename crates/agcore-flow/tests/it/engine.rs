//! Routing, loops, limits, attempts, timeouts, cancellation, events.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use agcore_chat::StopCheck;
use agcore_flow::{
    END, FlowBuilder, FlowError, FlowErrorKind, Limit, NodeContext, NodeError, NodeOptions, Retry, Step,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{Choice, Events, Path, clock, jumping, note};

/// A node that notes its name and takes a route that is written in the state.
fn routed(route: &'static str) -> impl agcore_flow::Node<Path> {
    move |mut state: Path, context: NodeContext| async move {
        state.nodes.push(context.node().to_owned());
        Ok(Step::new(state).via(route))
    }
}

fn nodes(outcome: Result<agcore_flow::FlowOutcome<Path>, FlowError>) -> Vec<String> {
    outcome.unwrap().into_state().unwrap().nodes
}

#[tokio::test]
async fn nodes_follow_edges_and_routes() {
    let flow = FlowBuilder::new("f", clock())
        .with_node("c", note)
        .with_node("a", routed("yes"))
        .with_node("b", note)
        .with_start("a")
        .with_route("a", "no", "b")
        .with_route("a", "yes", "c")
        .with_edge("b", "c")
        .with_edge("c", END)
        .build()
        .unwrap();
    assert_eq!(nodes(flow.run(Path::default()).await), ["a", "c"]);
}

#[tokio::test]
async fn routes_that_do_not_exist_are_errors_that_list_the_others() {
    let flow = |step: Choice| {
        FlowBuilder::new("f", clock())
            .with_node("a", move |state: Path, _: NodeContext| async move { Ok(step(state)) })
            .with_node("b", note)
            .with_route("a", "yes", "b")
            .with_edge("a", END)
            .with_edge("b", END)
            .build()
            .unwrap()
    };
    let cases: [(Choice, &str); 4] = [
        (
            |s| Step::new(s),
            "the node `a` has several edges and named none; choose one of `b` (route `yes`), `end`",
        ),
        (
            |s| Step::new(s).via("maybe"),
            "the node `a` has no route \"maybe\"; choose one of `b` (route `yes`), `end`",
        ),
        (
            |s| Step::new(s).to("a"),
            "the node `a` named [\"a\"] as next, but its edges lead to `b` (route `yes`), `end`; name one of them, or \
             declare a fork",
        ),
        (
            |s| Step::new(s).to_all(["b", END]),
            "the node `a` named [\"b\", \"end\"] as next, but its edges lead to `b` (route `yes`), `end`; name one of \
             them, or declare a fork",
        ),
    ];
    for (step, expected) in cases {
        let error = flow(step).run(Path::default()).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (FlowErrorKind::InvalidRoute, expected)
        );
        assert_eq!(error.failed_node(), Some("a"));
    }
}

fn looping(limit: impl Into<Limit>) -> FlowBuilder<Path> {
    FlowBuilder::new("loop", clock())
        .with_node("a", |mut state: Path, _: NodeContext| async move {
            state.nodes.push("a".to_owned());
            // Like a model that always wants to continue.
            Ok(Step::new(state).to("a"))
        })
        .with_node("out", note)
        .with_edge("a", "a")
        .with_edge("a", "out")
        .with_edge("out", END)
        .with_limit("a", limit)
}

#[tokio::test]
async fn limits_end_loops() {
    let error = looping(3).build().unwrap().run(Path::default()).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::LimitReached);
    let flow = looping(Limit::new(3).with_exit("out")).build().unwrap();
    assert_eq!(nodes(flow.run(Path::default()).await), ["a", "a", "a", "out"]);
    let flow = looping(Limit::new(1).with_exit(END)).build().unwrap();
    assert_eq!(nodes(flow.run(Path::default()).await), ["a"]);
}

#[tokio::test]
async fn exits_that_are_used_up_do_not_hang() {
    // Both nodes lead to each other when they are used up.
    let flow = FlowBuilder::new("f", clock())
        .with_node("a", |state: Path, _: NodeContext| async move {
            Ok(Step::new(state).to("b"))
        })
        .with_node("b", |state: Path, _: NodeContext| async move {
            Ok(Step::new(state).to("a"))
        })
        .with_edge("a", "b")
        .with_edge("a", END)
        .with_edge("b", "a")
        .with_limit("a", Limit::new(1).with_exit("b"))
        .with_limit("b", Limit::new(1).with_exit("a"))
        .build()
        .unwrap();
    let error = flow.run(Path::default()).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::LimitReached);
}

/// A flow of one node that fails a number of times.
fn failing(failures: u32, error: fn() -> NodeError, options: NodeOptions) -> (agcore_flow::Flow<Path>, Arc<AtomicU32>) {
    let attempts = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&attempts);
    let node = move |state: Path, context: NodeContext| {
        let attempt = counted.fetch_add(1, Ordering::SeqCst) + 1;
        assert_eq!(context.attempt(), attempt);
        async move {
            if attempt > failures {
                Ok(Step::new(state))
            } else {
                Err(error())
            }
        }
    };
    let flow = FlowBuilder::new("f", jumping())
        .with_node("a", node)
        .with_options("a", options)
        .with_edge("a", END);
    (flow.build().unwrap(), attempts)
}

#[tokio::test]
async fn nodes_are_tried_again() {
    let retry = || NodeOptions::new().with_retry(Retry::new(3).with_max_wait(Duration::from_millis(1500)));
    let (flow, _) = failing(2, || NodeError::new("busy"), retry());
    let events = Events::default();
    flow.run(Path::default())
        .with_observer(events.observer())
        .await
        .unwrap();
    assert_eq!(
        events.names(),
        [
            "run resumed=false",
            "start a 1",
            "retry a 1s",
            "start a 2",
            "retry a 1.5s",
            "start a 3",
            "finish a -> end",
            "finished"
        ]
    );
    let (flow, attempts) = failing(9, || NodeError::new("busy"), retry());
    let error = flow.run(Path::default()).await.unwrap_err();
    assert_eq!(attempts.load(Ordering::SeqCst), 3);
    assert_eq!(format!("{error:?}"), "the node `a` failed 3 times (NodeFailed): busy");
    let (flow, attempts) = failing(9, || NodeError::permanent("wrong"), retry());
    let error = flow.run(Path::default()).await.unwrap_err();
    assert_eq!((attempts.load(Ordering::SeqCst), error.is_recoverable()), (1, false));
}

#[tokio::test]
async fn nodes_have_limited_time() {
    let flow = FlowBuilder::new("f", jumping())
        .with_node("slow", |_: Path, _: NodeContext| pending())
        .with_options(
            "slow",
            NodeOptions::new()
                .with_timeout(Duration::from_secs(5))
                .with_retry(Retry::new(2)),
        )
        .with_edge("slow", END)
        .build()
        .unwrap();
    let error = flow.run(Path::default()).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::Timeout);
    let shown = format!("{error:?}");
    assert!(shown.contains("2 times") && shown.contains("within 5s"), "{shown}");
}

#[tokio::test]
async fn cancellation_drops_nodes() {
    let token = CancellationToken::new();
    let cancel = token.clone();
    let dropped = Arc::new(());
    let held = Arc::clone(&dropped);
    let flow = FlowBuilder::new("f", clock())
        .with_node("a", move |_: Path, context: NodeContext| {
            let (cancel, held) = (cancel.clone(), Arc::clone(&held));
            async move {
                cancel.cancel();
                assert!(context.token().is_cancelled(), "nodes see it");
                let () = pending().await;
                drop(held);
                Err(NodeError::new("never"))
            }
        })
        .with_edge("a", END)
        .build()
        .unwrap();
    let error = flow.run(Path::default()).with_token(token).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::Cancelled);
    assert_eq!(Arc::strong_count(&dropped), 2, "only the node itself holds it");
}

#[tokio::test]
async fn a_check_is_asked_before_each_attempt() {
    for limit in 0..3 {
        let options = NodeOptions::new().with_retry(Retry::new(5));
        let (flow, attempts) = failing(9, || NodeError::new("busy"), options);
        let counted = Arc::clone(&attempts);
        let check = StopCheck::new(move || counted.load(Ordering::SeqCst) >= limit);
        let error = flow.run(Path::default()).with_stop_check(check).await.unwrap_err();
        assert_eq!(
            (error.kind(), attempts.load(Ordering::SeqCst)),
            (FlowErrorKind::Cancelled, limit)
        );
    }
}

#[tokio::test]
async fn records_have_data_and_reach_the_next_node() {
    let flow = FlowBuilder::new("f", clock())
        .with_node("a", |state: Path, context: NodeContext| async move {
            assert!(context.last().is_none());
            context.emit(json!({"progress": 0.5}));
            Ok(Step::new(state).with_data(json!({"found": 3})))
        })
        .with_node("b", |state: Path, context: NodeContext| async move {
            let last = context.last().unwrap();
            assert_eq!((last.id, last.node.as_str(), last.visit, last.attempts), (1, "a", 1, 1));
            assert_eq!(last.data, Some(json!({"found": 3})));
            Ok(Step::new(state))
        })
        .with_edge("a", "b")
        .with_edge("b", END)
        .build()
        .unwrap();
    let events = Events::default();
    flow.run(Path::default())
        .with_observer(events.observer())
        .await
        .unwrap();
    assert_eq!(events.names()[2], r#"custom {"progress":0.5}"#);
    let text = serde_json::to_string(&events.all()).unwrap();
    let read: Vec<agcore_flow::FlowEvent> = serde_json::from_str(&text).unwrap();
    assert_eq!(read.len(), events.all().len());
}

/// A state that counts its copies.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Copied {
    visits: u32,
    #[serde(skip)]
    copies: Arc<AtomicU32>,
}

impl Clone for Copied {
    fn clone(&self) -> Self {
        self.copies.fetch_add(1, Ordering::SeqCst);
        Self {
            visits: self.visits,
            copies: Arc::clone(&self.copies),
        }
    }
}

#[tokio::test]
async fn a_state_that_is_stored_is_not_copied_for_each_node() {
    let flow = FlowBuilder::new("f", clock())
        .with_node("count", |mut state: Copied, context: NodeContext| async move {
            // Saving something does not need the state.
            context.save(&state.visits).await?;
            state.visits += 1;
            let next = if state.visits < 100 { "count" } else { END };
            Ok(Step::new(state).to(next))
        })
        .with_edge("count", "count")
        .with_edge("count", END)
        .with_limit("count", 100)
        .build()
        .unwrap();
    let state = Copied::default();
    let copies = Arc::clone(&state.copies);
    let checkpoints = crate::support::checkpoints(&crate::support::store()).await;
    let run = flow.run(state).with_checkpoints(checkpoints.clone());
    assert_eq!(run.await.unwrap().into_state().unwrap().visits, 100);
    // At its end, the run returns a copy.
    let copies = copies.load(Ordering::SeqCst);
    assert!(copies <= 2, "{copies} copies");
    let resumed = flow.resume(checkpoints.clone()).await.unwrap();
    assert_eq!(resumed.into_state().unwrap().visits, 100);
    for checkpoint in 1..=checkpoints.last().await.unwrap() {
        let state = flow.state_at(&checkpoints, checkpoint).await.unwrap().unwrap();
        assert_eq!(u64::from(state.visits), (checkpoint - 1) / 2, "checkpoint {checkpoint}");
    }
}
