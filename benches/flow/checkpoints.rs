//! The checkpoints of a run of 200 turns on SQLite: their size, restoring any of them, the first turns and the last.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Instant,
};

use agcore_chat::{Actor, SystemClock};
use agcore_flow::{Checkpoints, END, Flow, FlowBuilder, NodeContext, NodeError, Step};
use agcore_session::{CheckpointStore, RunKey};
use agcore_store::sqlite::SqliteStore;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{
    Fallible,
    measure::{Limit, median},
};

const TURNS: u32 = 200;

/// The turns at each end whose times are compared.
const COMPARED: usize = 10;

/// Runs whose turns are compared: a single run has too few turns for a stable median.
const RUNS: usize = 15;

/// The state of a conversation: ids of messages, and numbers that change.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Conversation {
    messages: Vec<String>,
    tokens: u64,
    goal: String,
}

type Moments = Arc<Mutex<Vec<Instant>>>;

/// Each turn is planned, makes a call whose result is saved, and answers.
fn flow(moments: &Moments) -> Fallible<Flow<Conversation>> {
    let moments = Arc::clone(moments);
    let flow = FlowBuilder::new("conversation", SystemClock::new())
        .with_node("plan", move |mut state: Conversation, context: NodeContext| {
            if let Ok(mut moments) = moments.lock() {
                moments.push(Instant::now());
            }
            async move {
                state.goal = format!("the goal of turn {}", context.visit());
                state.messages.push(format!("message-{:06}-question", context.visit()));
                Ok(Step::new(state).with_data(json!({"summary": "The distance has to be looked up."})))
            }
        })
        .with_node("turn", |mut state: Conversation, context: NodeContext| async move {
            let look = || async { Ok::<_, NodeError>("ten kilometres, with one bridge".to_owned()) };
            let found = context.once("look", look).await?;
            state.messages.push(format!("message-{:06}-answer", context.visit()));
            state.tokens += 1240;
            let next = if context.visit() < TURNS { "plan" } else { END };
            Ok(Step::new(state).to(next).with_data(json!({"found": found})))
        })
        .with_edge("plan", "turn")
        .with_edge("turn", "plan")
        .with_edge("turn", END)
        .with_limit("turn", TURNS)
        .build()?;
    Ok(flow)
}

/// Runs 200 turns several times, and restores every checkpoint of the last run.
pub(crate) fn run(directory: &Path, runtime: &Runtime) -> Fallible<Vec<Limit>> {
    let path = directory.join("flows.db");
    let moments = Moments::default();
    let flow = flow(&moments)?;
    let store = Arc::new(runtime.block_on(SqliteStore::open(&path, Arc::new(SystemClock::new())))?);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut name = String::new();
    for number in 0..RUNS {
        name = format!("run-{number}");
        let owner = Actor::local();
        let create = Checkpoints::create(Arc::clone(&store), &owner, "session", &name);
        let checkpoints = runtime.block_on(create)?;
        let run = async { flow.run(Conversation::default()).with_checkpoints(checkpoints).await };
        let ended = runtime.block_on(run)?.into_state()?;
        let end = Instant::now();
        if ended.messages.len() != 2 * TURNS as usize {
            return Err(format!("the conversation has {} messages", ended.messages.len()).into());
        }
        let mut moments = std::mem::take(&mut *moments.lock().map_err(|error| error.to_string())?);
        moments.push(end);
        let turns: Vec<f64> = moments
            .windows(2)
            .map(|two| two[1].duration_since(two[0]).as_secs_f64() * 1e6)
            .collect();
        first.extend(&turns[..COMPARED]);
        last.extend(&turns[turns.len() - COMPARED..]);
    }
    let bytes = size(runtime, &store, &name)?;
    let mut restored = restore(runtime, &flow, store, &name)?;
    let slowest = restored.iter().copied().fold(0.0, f64::max);
    let (first, last, restored) = (median(&mut first), median(&mut last), median(&mut restored));
    println!("\n| 200 turns with a call each, on SQLite | |\n|---|---|");
    println!("| checkpoints | {} KiB |", bytes / 1024);
    println!("| a turn at the start, at the end | {first:.0} µs, {last:.0} µs |");
    println!("| the state at any checkpoint, the slowest | {restored:.2} ms, {slowest:.2} ms |");
    let mib = bytes as f64 / f64::from(1 << 20);
    Ok(vec![
        Limit::at_most("checkpoints of 200 turns, MiB", mib, 1.0),
        Limit::at_most("the slowest of all checkpoints to restore, ms", slowest, 5.0),
        Limit::at_most("turns at the end / at the start", last / first, 1.15),
    ])
}

/// Returns the size of all checkpoints of a run.
fn size(runtime: &Runtime, store: &SqliteStore, run: &str) -> Fallible<usize> {
    let all = runtime.block_on(store.checkpoints(RunKey::new("local", "session", run), 0))?;
    Ok(all.iter().map(|saved| saved.data.to_string().len()).sum())
}

/// Restores every checkpoint, the best of three times each: another process may interrupt one of them. Returns milliseconds.
fn restore(runtime: &Runtime, flow: &Flow<Conversation>, store: Arc<SqliteStore>, run: &str) -> Fallible<Vec<f64>> {
    let checkpoints = Checkpoints::new(store, "local", "session", run);
    let count = runtime.block_on(checkpoints.last())?;
    let mut times = Vec::new();
    for seq in 1..=count {
        let mut best = f64::MAX;
        for _ in 0..3 {
            let begin = Instant::now();
            let state = runtime.block_on(flow.state_at(&checkpoints, seq))?;
            best = best.min(begin.elapsed().as_secs_f64() * 1e3);
            if state.is_none() {
                return Err(format!("the checkpoint {seq} cannot be restored").into());
            }
        }
        times.push(best);
    }
    Ok(times)
}
