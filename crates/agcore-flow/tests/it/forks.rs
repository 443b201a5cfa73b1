//! Branches that run side by side.

use std::sync::Arc;

use agcore_flow::{Checkpoints, END, FlowBuilder, FlowErrorKind, Fork, Joined, NodeContext, NodeError, Step};
use agcore_session::{Checkpoint, CheckpointStore, InMemorySessionStore, NewCheckpoint, RunKey, SessionError};
use tokio::sync::Barrier;

use crate::support::{Choice, Path, checkpoints, clock, note, store};

fn append(joined: Joined<Path>) -> Result<Path, NodeError> {
    let skip = joined.base.nodes.len();
    let mut state = joined.base;
    for branch in joined.branches {
        assert_eq!(branch.last.unwrap().branch, format!("0.{}", branch.start));
        state.nodes.extend(branch.state.nodes.into_iter().skip(skip));
    }
    Ok(state)
}

#[tokio::test]
async fn branches_run_side_by_side_and_are_joined() {
    // Both branches wait for each other.
    let barrier = Arc::new(Barrier::new(2));
    let meet = move |mut state: Path, context: NodeContext| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            state.nodes.push(context.node().to_owned());
            Ok(Step::new(state))
        }
    };
    let flow = FlowBuilder::new("f", clock())
        .with_node("split", note)
        .with_node("a", meet.clone())
        .with_node("b", meet)
        .with_node("b2", note)
        .with_node("join", note)
        .with_edge("a", "join")
        .with_edge("b", "b2")
        .with_edge("b2", "join")
        .with_edge("join", END)
        .with_fork(Fork::new("split", ["a", "b"], "join", append))
        .build()
        .unwrap();
    let checkpoints = checkpoints(&store()).await;
    let outcome = flow.run(Path::default()).with_checkpoints(checkpoints.clone()).await;
    assert_eq!(
        outcome.unwrap().into_state().unwrap().nodes,
        ["split", "a", "b", "b2", "join"]
    );
    let records = checkpoints.records().await.unwrap();
    assert_eq!(
        records.iter().map(|record| record.id).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    assert_eq!(records[0].next, ["a", "b"]);
}

fn chosen(choose: Choice) -> agcore_flow::Flow<Path> {
    FlowBuilder::new("f", clock())
        .with_node(
            "split",
            move |state: Path, _: NodeContext| async move { Ok(choose(state)) },
        )
        .with_node("a", note)
        .with_node("b", note)
        .with_node("c", note)
        .with_node("join", note)
        .with_edge("a", "join")
        .with_edge("b", "join")
        .with_edge("c", "join")
        .with_edge("join", END)
        .with_fork(Fork::new("split", ["a", "b", "c"], "join", append))
        .build()
        .unwrap()
}

#[tokio::test]
async fn some_branches_can_be_chosen() {
    let cases: [(Choice, &[&str]); 3] = [
        (|state| Step::new(state).to_all(["c", "a"]), &["a", "c", "join"]),
        (|state| Step::new(state).to("b"), &["b", "join"]),
        (|state| Step::new(state), &["a", "b", "c", "join"]),
    ];
    for (choose, expected) in cases {
        let outcome = chosen(choose).run(Path::default()).await.unwrap();
        assert_eq!(outcome.into_state().unwrap().nodes, expected);
    }
    let none: Choice = |state| Step::new(state).to_all::<String>([]);
    let other: Choice = |state| Step::new(state).to_all(["a", "join"]);
    for choose in [none, other] {
        let error = chosen(choose).run(Path::default()).await.unwrap_err();
        assert_eq!(error.kind(), FlowErrorKind::InvalidRoute);
    }
}

#[tokio::test]
async fn forks_can_be_nested_and_repeated() {
    let flow = FlowBuilder::new("f", clock())
        .with_node("s", note)
        .with_node("a", note)
        .with_node("c", note)
        .with_node("d", note)
        .with_node("i", note)
        .with_node("b", note)
        .with_node("j", |mut state: Path, context: NodeContext| async move {
            state.nodes.push("j".to_owned());
            let next = if context.visit() == 1 { "s" } else { END };
            Ok(Step::new(state).to(next))
        })
        .with_edge("c", "i")
        .with_edge("d", "i")
        .with_edge("i", "j")
        .with_edge("b", "j")
        .with_edge("j", "s")
        .with_edge("j", END)
        .with_limit("j", 2)
        .with_limit("s", 2)
        .with_fork(Fork::new("s", ["a", "b"], "j", |joined: Joined<Path>| {
            let mut nodes: Vec<_> = joined
                .branches
                .into_iter()
                .flat_map(|branch| branch.state.nodes)
                .collect();
            nodes.sort();
            Ok(Path { nodes })
        }))
        .with_fork(Fork::new("a", ["c", "d"], "i", |joined: Joined<Path>| {
            assert!(
                joined
                    .branches
                    .iter()
                    .all(|end| end.last.as_ref().unwrap().branch.starts_with("0.a."))
            );
            Ok(Path {
                nodes: joined.branches.iter().map(|end| end.start.clone()).collect(),
            })
        }))
        .build()
        .unwrap();
    let state = flow.run(Path::default()).await.unwrap().into_state().unwrap();
    // In the second round, the branch `b` knows what the first one has made; the branch `a` forgets it.
    let expected = ["b", "b", "c", "c", "d", "d", "i", "i", "j", "s", "s", "j"];
    assert_eq!(state.nodes, expected);
}

#[tokio::test]
async fn joins_that_fail_name_themselves() {
    let flow = FlowBuilder::new("f", clock())
        .with_node("s", note)
        .with_node("a", note)
        .with_node("b", note)
        .with_node("j", note)
        .with_edge("a", "j")
        .with_edge("b", "j")
        .with_edge("j", END)
        .with_fork(Fork::new("s", ["a", "b"], "j", |_| {
            Err(NodeError::new("the answers differ"))
        }))
        .build()
        .unwrap();
    let error = flow.run(Path::default()).await.unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "the node `j` failed (NodeFailed): the answers differ"
    );
}

/// A store whose writes end only after others had a chance to run.
#[derive(Debug)]
struct Yielding(Arc<InMemorySessionStore>);

#[async_trait::async_trait]
impl CheckpointStore for Yielding {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.0.save_checkpoint(run, expected, checkpoint).await
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        self.0.latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.0.checkpoints(run, from).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        self.0.trim_checkpoints(run, before).await
    }
}

/// A branch that is saving data must not stop the branch that has finished, and the other way round.
#[tokio::test]
async fn branches_save_side_by_side() {
    let save = |state: Path, context: NodeContext| async move {
        for number in 0..if context.node() == "a" { 1 } else { 5 } {
            context.save(&number).await?;
        }
        Ok(Step::new(state))
    };
    let flow = FlowBuilder::new("f", clock())
        .with_node("s", note)
        .with_node("a", save)
        .with_node("b", save)
        .with_node("j", note)
        .with_edge("a", "j")
        .with_edge("b", "j")
        .with_edge("j", END)
        .with_fork(Fork::new("s", ["a", "b"], "j", append))
        .build()
        .unwrap();
    let inner = store();
    checkpoints(&inner).await;
    let saved = Checkpoints::new(Arc::new(Yielding(inner)), "local", "session", "run");
    let outcome = flow.run(Path::default()).with_checkpoints(saved.clone()).await.unwrap();
    assert_eq!(outcome.into_state().unwrap().nodes, ["s", "j"]);
    // The beginning, four nodes, six saves.
    assert_eq!(saved.last().await.unwrap(), 11);
}
