//! Checkpoints: resuming, versions, damage, growth.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_chat::Actor;
use agcore_flow::{
    Checkpoints, END, Flow, FlowBuilder, FlowErrorKind, NodeContext, NodeError, NodeOptions, Retry, Step,
};
use agcore_session::{Checkpoint, CheckpointStore, InMemorySessionStore, NewCheckpoint, RunKey, SessionError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Path, checkpoints, clock, note, store};

/// A flow whose second node fails while `broken` is set.
fn flow(broken: &Arc<Mutex<bool>>) -> Flow<Path> {
    let broken = Arc::clone(broken);
    FlowBuilder::new("f", clock())
        .with_node("a", note)
        .with_node("b", move |mut state: Path, context: NodeContext| {
            let is_broken = *broken.lock().unwrap();
            async move {
                let number = context
                    .once("number", || async { Ok::<_, NodeError>(usize::from(is_broken)) })
                    .await?;
                if is_broken {
                    return Err(NodeError::new("broken"));
                }
                state.nodes.push(format!("b {number}"));
                Ok(Step::new(state))
            }
        })
        .with_edge("a", "b")
        .with_edge("b", END)
        .build()
        .unwrap()
}

async fn raw(store: &InMemorySessionStore, expected: u64, checkpoint: NewCheckpoint) {
    let key = RunKey::new("local", "session", "run");
    store.save_checkpoint(key, expected, checkpoint).await.unwrap();
}

#[tokio::test]
async fn failed_runs_go_on_where_they_failed() {
    let broken = Arc::new(Mutex::new(true));
    let checkpoints = checkpoints(&store()).await;
    let flow = flow(&broken);
    let error = flow
        .run(Path::default())
        .with_checkpoints(checkpoints.clone())
        .await
        .unwrap_err();
    assert_eq!(error.failed_node(), Some("b"));
    *broken.lock().unwrap() = false;
    let state = flow.resume(checkpoints.clone()).await.unwrap().into_state().unwrap();
    assert_eq!(state.nodes, ["a", "b 1"], "the saved result of the call is used");
    let path: Vec<String> = checkpoints
        .records()
        .await
        .unwrap()
        .into_iter()
        .map(|r| r.node)
        .collect();
    assert_eq!(path, ["a", "b"]);
    // The state at each checkpoint: the beginning, after `a`, after the call, the end.
    for (seq, expected) in [(1, 0), (2, 1), (3, 1), (4, 2)] {
        let state = flow.state_at(&checkpoints, seq).await.unwrap().unwrap();
        assert_eq!(state.nodes.len(), expected);
    }
    assert_eq!(flow.state_at(&checkpoints, 5).await.unwrap(), None);
}

#[tokio::test]
async fn runs_begin_and_resume_only_where_that_is_possible() {
    let broken = Arc::default();
    let flow = flow(&broken);
    let checkpoints = checkpoints(&store()).await;
    let error = flow.resume(checkpoints.clone()).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::InvalidInput);
    flow.resume_or_run(checkpoints.clone(), Path::default()).await.unwrap();
    let again = flow.resume_or_run(checkpoints.clone(), Path::default()).await.unwrap();
    assert_eq!(again.into_state().unwrap().nodes, ["a", "b 0"]);
    let error = flow
        .run(Path::default())
        .with_checkpoints(checkpoints)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::InvalidInput);
    let missing = Checkpoints::new(store(), "local", "nobody", "nothing");
    let error = flow.run(Path::default()).with_checkpoints(missing).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::InvalidInput);
}

#[tokio::test]
async fn two_processes_cannot_continue_the_same_run() {
    let store = store();
    let one = checkpoints(&store).await;
    let other = one.clone();
    let flow = FlowBuilder::new("f", clock())
        .with_node("a", move |state: Path, context: NodeContext| {
            let other = other.clone();
            async move {
                if context.visit() == 1 {
                    // The same run continues elsewhere.
                    let flow = FlowBuilder::new("f", clock())
                        .with_node("a", note)
                        .with_edge("a", END)
                        .build()?;
                    flow.resume(other).await?;
                }
                Ok(Step::new(state))
            }
        })
        .with_edge("a", END)
        .build()
        .unwrap();
    let error = flow.run(Path::default()).with_checkpoints(one).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::Conflict);
}

#[tokio::test]
async fn checkpoints_of_other_flows_and_newer_versions_are_refused() {
    let build = |name: &str, version| {
        let flow = FlowBuilder::new(name, clock()).with_node("a", note).with_edge("a", END);
        flow.with_version(version).build().unwrap()
    };
    let checkpoints = checkpoints(&store()).await;
    build("f", 2)
        .run(Path::default())
        .with_checkpoints(checkpoints.clone())
        .await
        .unwrap();
    let error = build("g", 2).resume(checkpoints.clone()).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::OtherFlow);
    assert_eq!(error.to_string(), "the checkpoints belong to the flow `f`, not to `g`");
    let error = build("f", 1).resume(checkpoints.clone()).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::NewerVersion);
    build("f", 3).resume(checkpoints).await.unwrap();
}

fn snapshot(changes: impl FnOnce(&mut Value)) -> NewCheckpoint {
    let mut data = json!({"document": {"format": 1, "flow": "f", "version": 1, "progress": {
        "records": 1, "visits": {"a": 1, "b": 1},
        "branches": {"0": {"state": {"nodes": ["a"]}, "place": {"at": "node", "node": "b", "visit": 1}}},
    }}});
    changes(&mut data);
    NewCheckpoint::snapshot("a", data)
}

#[tokio::test]
async fn damaged_checkpoints_are_clear_errors() {
    let set = |pointer: &'static str, value: Value| snapshot(|data| *data.pointer_mut(pointer).unwrap() = value);
    let patch = |patch: Value| NewCheckpoint::patch("b", json!({"patch": patch}));
    use FlowErrorKind::{CorruptCheckpoint as Corrupt, NewerVersion as Newer};
    let branch = "/document/progress/branches/0";
    let cases = [
        (vec![snapshot(|_| ())], None),
        (vec![set("/document/format", json!(2))], Some(Newer)),
        (vec![set("/document/progress", Value::Null)], Some(Corrupt)),
        (vec![set("/document/progress/branches", json!({}))], Some(Corrupt)),
        (vec![NewCheckpoint::snapshot("a", json!("torn"))], Some(Corrupt)),
        (
            vec![NewCheckpoint::snapshot("a", json!({"document": {"format": 1}}))],
            Some(Corrupt),
        ),
        (
            vec![snapshot(|data| {
                data.pointer_mut(branch).unwrap()["place"]["node"] = json!("gone");
            })],
            Some(Corrupt),
        ),
        (
            vec![snapshot(|data| {
                data.pointer_mut(branch).unwrap()["state"] = json!({"nodes": 3});
            })],
            Some(Corrupt),
        ),
        (vec![snapshot(|_| ()), patch(json!([]))], None),
        (
            vec![
                snapshot(|_| ()),
                patch(json!([{"op": "remove", "path": "/branches/1"}])),
            ],
            Some(Corrupt),
        ),
        (vec![snapshot(|_| ()), patch(json!("torn"))], Some(Corrupt)),
        (
            vec![snapshot(|_| ()), NewCheckpoint::patch("b", Value::Null)],
            Some(Corrupt),
        ),
    ];
    for (number, (saved, expected)) in cases.into_iter().enumerate() {
        let store = store();
        let checkpoints = checkpoints(&store).await;
        for (seq, checkpoint) in saved.into_iter().enumerate() {
            raw(&store, seq as u64, checkpoint).await;
        }
        let result = flow(&Arc::default()).resume(checkpoints).await;
        assert_eq!(
            result.as_ref().err().map(agcore_flow::FlowError::kind),
            expected,
            "{number}: {result:?}"
        );
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Named {
    names: Vec<String>,
    length: usize,
}

#[tokio::test]
async fn states_of_older_versions_are_converted() {
    let new = |migrates: bool| {
        let flow = FlowBuilder::new("f", clock())
            .with_node("a", |state: Named, _: NodeContext| async move { Ok(Step::new(state)) })
            .with_node("b", |state: Named, _: NodeContext| async move { Ok(Step::new(state)) })
            .with_edge("a", "b")
            .with_edge("b", END)
            .with_version(2);
        let flow = match migrates {
            false => flow,
            true => flow.with_migration(|version, mut state| {
                assert_eq!(version, 1);
                let nodes = state.get_mut("nodes").ok_or("`nodes` is missing")?.take();
                let length = nodes.as_array().ok_or("`nodes` is not a list")?.len();
                Ok(json!({"names": nodes, "length": length}))
            }),
        };
        flow.build().unwrap()
    };
    let store = store();
    let saved = checkpoints(&store).await;
    raw(&store, 0, snapshot(|_| ())).await;
    let error = new(false).resume(saved.clone()).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::CorruptCheckpoint);
    let state = new(true).resume(saved.clone()).await.unwrap().into_state().unwrap();
    assert_eq!((state.names.len(), state.length), (1, 1));
    // It is saved in the new form, once.
    assert_eq!(new(false).resume(saved).await.unwrap().into_state().unwrap(), state);

    let store = crate::support::store();
    let bad = checkpoints(&store).await;
    let checkpoint = snapshot(|data| data["document"]["progress"]["branches"]["0"]["state"] = json!({"nodes": 1}));
    raw(&store, 0, checkpoint).await;
    let error = new(true).resume(bad).await.unwrap_err();
    assert_eq!(error.kind(), FlowErrorKind::Migration);
    assert_eq!(
        error.to_string(),
        "the state of version 1 could not be converted: `nodes` is not a list"
    );
}

/// The state of a conversation: ids of messages, and a number that changes.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Chat {
    messages: Vec<String>,
    tokens: u64,
}

#[tokio::test]
async fn checkpoints_grow_linearly() {
    let turn = |mut state: Chat, context: NodeContext| async move {
        for part in ["question", "answer"] {
            state.messages.push(format!("message-{:06}-{part}", context.visit()));
        }
        state.tokens += 1234;
        let next = if context.visit() < 200 { "plan" } else { END };
        Ok(Step::new(state).to(next))
    };
    let flow = FlowBuilder::new("f", clock())
        .with_node(
            "plan",
            |state: Chat, _: NodeContext| async move { Ok(Step::new(state)) },
        )
        .with_node("turn", turn)
        .with_edge("plan", "turn")
        .with_edge("turn", "plan")
        .with_edge("turn", END)
        .with_limit("turn", 200)
        .build()
        .unwrap();
    let store = store();
    let checkpoints = Checkpoints::create(Arc::clone(&store), &Actor::local(), "session", "run")
        .await
        .unwrap();
    flow.run(Chat::default())
        .with_checkpoints(checkpoints.clone())
        .await
        .unwrap();
    let all = store
        .checkpoints(RunKey::new("local", "session", "run"), 0)
        .await
        .unwrap();
    assert_eq!(all.len(), 401);
    let bytes: Vec<usize> = all.iter().map(|saved| saved.data.to_string().len()).collect();
    let total: usize = bytes.iter().sum();
    assert!(total <= 1024 * 1024, "{total} bytes");
    let patches: Vec<usize> = (all.iter().zip(&bytes))
        .filter(|(saved, _)| !saved.is_snapshot)
        .map(|(_, bytes)| *bytes)
        .collect();
    let sum = |part: &[usize]| part.iter().sum::<usize>();
    let (first, last) = (sum(&patches[..20]), sum(&patches[patches.len() - 20..]));
    assert!(
        last * 100 <= first * 115,
        "the first 10 turns take {first} bytes, the last {last}"
    );
    let snapshots = total - sum(&patches);
    assert!(
        snapshots * 2 < sum(&patches),
        "{snapshots} bytes of snapshots in {total}"
    );
    // Each of them can be restored.
    for seq in [1, 2, 3, 77, 200, 399, 401] {
        let state = flow.state_at(&checkpoints, seq).await.unwrap().unwrap();
        assert_eq!(state.messages.len() as u64, (seq - 1) / 2 * 2);
    }
}

/// A store that writes, but never says so, at one of its writes.
#[derive(Debug)]
struct Silent {
    inner: Arc<InMemorySessionStore>,
    writes: AtomicUsize,
    silent: usize,
    takes_place: bool,
}

#[async_trait::async_trait]
impl CheckpointStore for Silent {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        let is_silent = self.writes.fetch_add(1, Ordering::SeqCst) == self.silent;
        if is_silent && !self.takes_place {
            return std::future::pending().await;
        }
        let saved = self.inner.save_checkpoint(run, expected, checkpoint).await;
        match is_silent {
            true => std::future::pending().await,
            false => saved,
        }
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner.latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner.checkpoints(run, from).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        self.inner.trim_checkpoints(run, before).await
    }
}

#[tokio::test]
async fn writes_whose_end_was_not_seen_are_found() {
    for takes_place in [true, false] {
        let inner = store();
        checkpoints(&inner).await;
        let silent = Silent {
            inner,
            writes: AtomicUsize::new(0),
            silent: 1,
            takes_place,
        };
        let checkpoints = Checkpoints::new(Arc::new(silent), "local", "session", "run");
        let flow = FlowBuilder::new("f", crate::support::jumping())
            .with_node("a", |mut state: Path, context: NodeContext| async move {
                // The first attempt hangs in this write until its time is over.
                context.save(&context.attempt()).await?;
                state.nodes.push(format!("attempt {}", context.attempt()));
                Ok(Step::new(state))
            })
            .with_options(
                "a",
                NodeOptions::new()
                    .with_timeout(Duration::from_secs(1))
                    .with_retry(Retry::new(2)),
            )
            .with_edge("a", END)
            .build()
            .unwrap();
        let outcome = flow
            .run(Path::default())
            .with_checkpoints(checkpoints.clone())
            .await
            .unwrap();
        assert_eq!(outcome.into_state().unwrap().nodes, ["attempt 2"]);
        let resumed = flow.resume(checkpoints).await.unwrap();
        assert_eq!(resumed.into_state().unwrap().nodes, ["attempt 2"]);
    }
}
