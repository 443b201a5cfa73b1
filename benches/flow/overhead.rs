//! The cost of a node beside a loop that calls the same function.

use std::{hint::black_box, sync::Arc, time::Instant};

use agcore_chat::{Actor, SystemClock};
use agcore_flow::{Checkpoints, END, Flow, FlowBuilder, NodeContext, NodeError, Step};
use agcore_session::InMemorySessionStore;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use crate::{
    Fallible,
    measure::{Limit, median},
};

/// The nodes of a run without checkpoints.
const NODES: u32 = 20_000;

/// The nodes of a run that saves its checkpoints in the memory of the process.
const SAVED_NODES: u32 = 2_000;

const ROUNDS: usize = 9;

/// The state of a draft that is written and reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Draft {
    text: String,
    topics: Vec<String>,
    rounds: u32,
}

impl Draft {
    fn new() -> Self {
        Self {
            text: "It takes about two hours to walk there.".repeat(10),
            topics: (0..10).map(|topic| format!("topic {topic}")).collect(),
            rounds: 0,
        }
    }
}

async fn write(mut draft: Draft) -> Result<Draft, NodeError> {
    draft.rounds += 1;
    Ok(black_box(draft))
}

async fn review(draft: Draft) -> Result<Draft, NodeError> {
    Ok(black_box(draft))
}

fn flow(nodes: u32) -> Fallible<Flow<Draft>> {
    let flow = FlowBuilder::new("article", SystemClock::new())
        .with_node("write", |draft: Draft, _: NodeContext| async move {
            write(draft).await.map(Step::new)
        })
        .with_node("review", move |draft: Draft, _: NodeContext| async move {
            let draft = review(draft).await?;
            let next = if draft.rounds < nodes / 2 { "write" } else { END };
            Ok(Step::new(draft).to(next))
        })
        .with_edge("write", "review")
        .with_edge("review", "write")
        .with_edge("review", END)
        .with_limit("write", nodes)
        .build()?;
    Ok(flow)
}

async fn by_hand(nodes: u32) -> Result<Draft, NodeError> {
    let mut draft = Draft::new();
    while draft.rounds < nodes / 2 {
        // A loop that could repeat a failed node keeps the state, as the engine does.
        draft = write(draft.clone()).await?;
        draft = review(draft.clone()).await?;
    }
    Ok(draft)
}

/// Runs both in turn, and compares the medians of their times.
pub(crate) fn run(runtime: &Runtime) -> Fallible<Vec<Limit>> {
    let (plain, saved) = (flow(NODES)?, flow(SAVED_NODES)?);
    let (mut loops, mut engine, mut saving) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let begin = Instant::now();
        let expected = runtime.block_on(by_hand(NODES)).map_err(|error| format!("{error:?}"))?;
        loops.push(micros(begin, NODES));

        let begin = Instant::now();
        let found = runtime
            .block_on(async { plain.run(Draft::new()).await })?
            .into_state()?;
        engine.push(micros(begin, NODES));
        if found != expected {
            return Err(format!("the flow ended with {found:?}").into());
        }

        let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
        let checkpoints = runtime.block_on(Checkpoints::create(
            store,
            &Actor::local(),
            "session",
            &format!("run-{round}"),
        ))?;
        let begin = Instant::now();
        let run = async { saved.run(Draft::new()).with_checkpoints(checkpoints).await };
        runtime.block_on(run)?.into_state()?;
        saving.push(micros(begin, SAVED_NODES));
    }
    let (by_hand, engine, saving) = (median(&mut loops), median(&mut engine), median(&mut saving));
    println!("| a node, without I/O | µs |\n|---|---|");
    println!("| in a hand-written loop | {by_hand:.2} |");
    println!("| in a flow | {engine:.2} |");
    println!("| in a flow with checkpoints in memory | {saving:.2} |");
    Ok(vec![
        Limit::at_most("a node beside a hand-written loop, µs more", engine - by_hand, 20.0),
        Limit::at_most("the same with checkpoints in memory, µs more", saving - by_hand, 20.0),
    ])
}

fn micros(begin: Instant, nodes: u32) -> f64 {
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(nodes)
}
