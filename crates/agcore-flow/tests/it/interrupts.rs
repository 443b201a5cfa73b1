//! Questions to people.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use agcore_flow::{END, Flow, FlowBuilder, FlowErrorKind, Fork, NodeContext, NodeError, SavedRun, Step};
use serde_json::{Value, json};

use crate::support::{Events, Path, checkpoints, clock, note, store};

/// A node that makes a call, asks two questions, and notes the answers.
fn asking(calls: &Arc<AtomicU32>) -> impl agcore_flow::Node<Path> + use<> {
    let calls = Arc::clone(calls);
    move |mut state: Path, context: NodeContext| {
        let calls = Arc::clone(&calls);
        async move {
            let paid: u32 = context
                .once("pay", || async {
                    Ok::<_, NodeError>(calls.fetch_add(1, Ordering::SeqCst) + 1)
                })
                .await?;
            let name: String = context.ask("name", "Who?").await?;
            let sure: bool = context.ask("sure", json!({"text": "Sure?"})).await?;
            state.nodes.push(format!("{name} {sure} {paid}"));
            Ok(Step::new(state))
        }
    }
}

fn flow(calls: &Arc<AtomicU32>) -> Flow<Path> {
    let flow = FlowBuilder::new("f", clock())
        .with_node("ask", asking(calls))
        .with_edge("ask", END);
    flow.build().unwrap()
}

#[tokio::test]
async fn runs_wait_for_answers_and_do_not_repeat_calls() {
    let calls = Arc::default();
    let checkpoints = checkpoints(&store()).await;
    let events = Events::default();
    let run = flow(&calls).run(Path::default()).with_checkpoints(checkpoints.clone());
    let outcome = run.with_observer(events.observer()).await.unwrap();
    assert_eq!(outcome.interrupts()[0].prompt, "Who?");
    assert_eq!(
        events.names(),
        ["run resumed=false", "start ask 1", "ask 0:ask#1:name", "suspended"]
    );
    assert!(!checkpoints.has_ended().await.unwrap());
    // Without an answer, it waits on.
    let outcome = flow(&calls).resume(checkpoints.clone()).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    let wrong = flow(&calls)
        .resume(checkpoints.clone())
        .with_answer("0:ask#1:age", 3)
        .await
        .unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "the run has no open question \"0:ask#1:age\"; the open ones are [\"0:ask#1:name\"]"
    );
    let next = flow(&calls)
        .resume(checkpoints.clone())
        .with_answer("0:ask#1:name", "Ada")
        .await
        .unwrap();
    assert_eq!(next.interrupts()[0].id, "0:ask#1:sure");
    let end = flow(&calls)
        .resume(checkpoints.clone())
        .with_answer("0:ask#1:sure", true)
        .await
        .unwrap();
    assert_eq!(end.into_state().unwrap().nodes, ["Ada true 1"]);
    assert!(checkpoints.has_ended().await.unwrap());
    // A run that has ended returns its state.
    let again = flow(&calls).resume(checkpoints).await.unwrap();
    assert_eq!(again.into_state().unwrap().nodes, ["Ada true 1"]);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn runs_without_a_store_are_continued_from_data() {
    let calls = Arc::default();
    let outcome = flow(&calls).run(Path::default()).await.unwrap();
    let agcore_flow::FlowOutcome::Suspended(suspension) = outcome else {
        panic!()
    };
    let text = serde_json::to_string(&suspension.saved).unwrap();
    let saved: SavedRun = serde_json::from_str(&text).unwrap();
    let outcome = flow(&calls)
        .resume(saved)
        .with_answer("0:ask#1:name", "Bo")
        .await
        .unwrap();
    let agcore_flow::FlowOutcome::Suspended(suspension) = outcome else {
        panic!()
    };
    let outcome = flow(&calls)
        .resume(suspension.saved)
        .with_answer("0:ask#1:sure", false)
        .await
        .unwrap();
    assert_eq!(outcome.into_state().unwrap().nodes, ["Bo false 1"]);
}

#[tokio::test]
async fn answers_of_another_type_are_errors_of_the_node() {
    let calls = Arc::default();
    let outcome = flow(&calls).run(Path::default()).await.unwrap();
    let agcore_flow::FlowOutcome::Suspended(suspension) = outcome else {
        panic!()
    };
    let run = flow(&calls).resume(suspension.saved).with_answer("0:ask#1:name", 7);
    let error = run.await.unwrap_err();
    assert_eq!(
        (error.kind(), error.is_recoverable()),
        (FlowErrorKind::NodeFailed, false)
    );
}

#[tokio::test]
async fn other_branches_go_on_while_one_waits() {
    let ask = |mut state: Path, context: NodeContext| async move {
        let answer: Value = context.ask("q", Value::Null).await?;
        state.nodes.push(format!("{} {answer}", context.node()));
        Ok(Step::new(state))
    };
    let flow = FlowBuilder::new("f", clock())
        .with_node("s", note)
        .with_node("a", ask)
        .with_node("b", note)
        .with_node("c", ask)
        .with_node("j", note)
        .with_edge("a", "j")
        .with_edge("b", "c")
        .with_edge("c", "j")
        .with_edge("j", END)
        .with_fork(Fork::new("s", ["a", "b"], "j", |joined: agcore_flow::Joined<Path>| {
            let nodes = joined
                .branches
                .into_iter()
                .flat_map(|branch| branch.state.nodes)
                .collect();
            Ok(Path { nodes })
        }))
        .build()
        .unwrap();
    let checkpoints = checkpoints(&store()).await;
    let outcome = flow
        .run(Path::default())
        .with_checkpoints(checkpoints.clone())
        .await
        .unwrap();
    let ids: Vec<&str> = outcome.interrupts().iter().map(|open| open.id.as_str()).collect();
    assert_eq!(ids, ["0.a:a#1:q", "0.b:c#1:q"]);
    let run = flow
        .resume(checkpoints)
        .with_answer("0.b:c#1:q", 2)
        .with_answer("0.a:a#1:q", 1);
    let state = run.await.unwrap().into_state().unwrap();
    assert_eq!(state.nodes, ["s", "a 1", "s", "b", "c 2", "j"]);
}

#[tokio::test]
async fn suspending_without_a_question_is_an_error() {
    let flow = FlowBuilder::new("f", clock())
        .with_node("a", |state: Path, context: NodeContext| async move {
            let asked = context.ask::<String>("q", "?").await;
            assert!(asked.unwrap_err().is_suspended());
            // The question is forgotten when the node continues without it.
            Ok(Step::new(state))
        })
        .with_edge("a", END)
        .build()
        .unwrap();
    assert!(flow.run(Path::default()).await.unwrap().interrupts().is_empty());
}
