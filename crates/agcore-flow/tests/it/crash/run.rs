//! The run that processes are killed in: a loop, a fork, a flow as a node, and calls in all of them.

use std::collections::BTreeMap;

use agcore_chat::{Actor, SystemClock};
use agcore_flow::{Checkpoints, END, Flow, FlowBuilder, Fork, Joined, NodeContext, NodeError, Step, SubFlow};
use agcore_testkit::crash::{Boundaries, Log, Place};
use serde::{Deserialize, Serialize};

use super::store::Stores;

/// The results of the calls, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) results: BTreeMap<String, String>,
    pub(super) rounds: u32,
}

/// Continues the run, or begins it.
pub(super) async fn run(place: &Place, boundaries: &Boundaries) {
    let stores = Stores::open(place).await.unwrap();
    let checkpoints = stores.run(place, &Actor::local(), boundaries).await;
    let flow = flow(Caller {
        log: place.log(),
        boundaries: boundaries.clone(),
    });
    flow.resume_or_run(checkpoints, State::default()).await.unwrap();
}

/// Returns the state at a checkpoint.
pub(super) async fn state_at(place: &Place, checkpoints: Checkpoints, seq: u64) -> Option<State> {
    let flow = flow(Caller {
        log: place.log(),
        boundaries: Boundaries::without_stop(),
    });
    flow.state_at(&checkpoints, seq).await.unwrap()
}

/// Makes the calls of the run, and logs each of them.
#[derive(Clone)]
struct Caller {
    log: Log,
    boundaries: Boundaries,
}

impl Caller {
    async fn call(&self, state: &mut State, context: &NodeContext, name: &str) -> Result<(), NodeError> {
        let key = format!("{}#{}/{name}", context.node(), context.visit());
        let call = || async {
            self.log.add(&format!("call {key}"));
            self.boundaries.pass().await;
            Ok::<_, NodeError>(format!("result of {key}"))
        };
        let result = context.once(&key, call).await?;
        state.results.insert(key.clone(), result);
        Ok(())
    }
}

/// A node that makes two calls.
fn two_calls(caller: &Caller) -> impl agcore_flow::Node<State> + use<> {
    let caller = caller.clone();
    move |mut state: State, context: NodeContext| {
        let caller = caller.clone();
        async move {
            caller.call(&mut state, &context, "one").await?;
            caller.call(&mut state, &context, "two").await?;
            Ok(Step::new(state))
        }
    }
}

fn merge(joined: Joined<State>) -> Result<State, NodeError> {
    let mut state = joined.base;
    for branch in joined.branches {
        state.results.extend(branch.state.results);
    }
    Ok(state)
}

fn flow(caller: Caller) -> Flow<State> {
    let inner = FlowBuilder::new("inner", SystemClock::new())
        .with_node("sub1", two_calls(&caller))
        .with_node("sub2", two_calls(&caller))
        .with_edge("sub1", "sub2")
        .with_edge("sub2", END)
        .build()
        .unwrap();
    FlowBuilder::new("job", SystemClock::new())
        .with_node("plan", two_calls(&caller))
        .with_node(
            "split",
            |state: State, _: NodeContext| async move { Ok(Step::new(state)) },
        )
        .with_node("left", two_calls(&caller))
        .with_node("right", two_calls(&caller))
        .with_node("join", |mut state: State, context: NodeContext| async move {
            state.rounds += 1;
            let next = if context.visit() < 2 { "plan" } else { "sub" };
            Ok(Step::new(state).to(next))
        })
        .with_node("sub", SubFlow::new(inner, State::clone, |_, state| Step::new(state)))
        .with_edge("plan", "split")
        .with_edge("left", "join")
        .with_edge("right", "join")
        .with_edge("join", "plan")
        .with_edge("join", "sub")
        .with_edge("sub", END)
        .with_limit("join", 2)
        .with_fork(Fork::new("split", ["left", "right"], "join", merge))
        .build()
        .unwrap()
}
