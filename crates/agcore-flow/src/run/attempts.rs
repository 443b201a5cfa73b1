//! Runs one node: its attempts, timeouts and waits.

use std::{pin::pin, sync::Arc, time::Duration};

use agcore_chat::Clock;
use futures_util::future::{Either, select};

use super::ledger::{Ledger, Ready};
use crate::{
    context::{NodeContext, NodePlace, Notebook},
    error::{FlowError, NodeError},
    event::FlowEvent,
    flow::{Flow, NodeEntry},
    interrupt::Interrupt,
    node::FlowState,
    record::Record,
    step::Step,
    stop::Stop,
};

/// The end of the work of a node.
pub(super) enum Ended<S> {
    Finished(S, Record),
    Waits(String, Vec<Interrupt>),
    Failed(FlowError),
}

/// Runs a node until it has finished, waits, or has no attempts left. Also returns its branch.
pub(super) async fn run<S: FlowState>(
    flow: &Flow<S>,
    ledger: &Arc<Ledger<S>>,
    mut ready: Ready<S>,
    stop: Stop,
) -> (String, Ended<S>) {
    let branch = ready.branch.clone();
    let Some(entry) = flow.parts().nodes.get(&ready.node) else {
        return (branch, Ended::Failed(unknown_node(&ready.node)));
    };
    let clock = &flow.parts().clock;
    let started = clock.monotonic();
    let mut attempt = 1;
    loop {
        if stop.must_stop() {
            return (branch, Ended::Failed(FlowError::cancelled()));
        }
        let context = context(ledger, &ready, clock, &stop, attempt);
        ledger.emit(FlowEvent::NodeStarted {
            node: ready.node.clone(),
            branch: branch.clone(),
            visit: ready.visit,
            attempt,
        });
        let state = match state(&mut ready, attempt < entry.options.retry.attempts) {
            Ok(state) => state,
            Err(error) => return (branch, Ended::Failed(error)),
        };
        let error = match one_attempt(entry, state, context.clone(), clock).await {
            Ok(step) => {
                let duration = clock.monotonic().saturating_sub(started);
                return (branch, finished(ledger, ready, attempt, duration, step));
            }
            Err(error) => error,
        };
        let asked = context.take_asked();
        if error.is_suspended() && !asked.is_empty() {
            return (branch, Ended::Waits(ready.node, asked));
        }
        let error = error.into_flow_error(&ready.node, attempt);
        if attempt >= entry.options.retry.attempts || !error.is_recoverable() {
            ledger.emit(FlowEvent::NodeFailed {
                node: ready.node.clone(),
                branch: branch.clone(),
                fault: error.fault(),
            });
            return (branch, Ended::Failed(error));
        }
        let wait = entry.options.retry.wait_after(attempt);
        ledger.emit(FlowEvent::NodeRetried {
            node: ready.node.clone(),
            branch: branch.clone(),
            attempt,
            wait,
            fault: error.fault(),
        });
        clock.sleep(wait).await;
        attempt += 1;
    }
}

fn unknown_node(name: &str) -> FlowError {
    FlowError::corrupt(format!("the run is in the unknown node `{name}`"))
}

/// Returns the state for an attempt. Only one that another attempt may follow needs a copy.
fn state<S: FlowState>(ready: &mut Ready<S>, may_repeat: bool) -> Result<S, FlowError> {
    let state = match may_repeat {
        true => ready.state.clone(),
        false => ready.state.take(),
    };
    state.ok_or_else(|| FlowError::corrupt(format!("the node `{}` has no state to begin with", ready.node)))
}

fn context<S: FlowState>(
    ledger: &Arc<Ledger<S>>,
    ready: &Ready<S>,
    clock: &Arc<dyn Clock>,
    stop: &Stop,
    attempt: u32,
) -> NodeContext {
    let place = NodePlace {
        node: ready.node.clone(),
        branch: ready.branch.clone(),
        visit: ready.visit,
        attempt,
    };
    let notebook: Arc<dyn Notebook> = Arc::clone(ledger) as _;
    NodeContext::new(place, ready.last.clone(), stop.clone(), Arc::clone(clock), notebook)
}

async fn one_attempt<S: FlowState>(
    entry: &NodeEntry<S>,
    state: S,
    context: NodeContext,
    clock: &Arc<dyn Clock>,
) -> Result<Step<S>, NodeError> {
    let work = entry.node.run(state, context);
    let Some(limit) = entry.options.timeout else {
        return work.await;
    };
    match select(work, pin!(clock.sleep(limit))).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(NodeError::timeout(limit)),
    }
}

/// Makes the record of a node that has finished. Its number follows when it is saved.
fn finished<S: FlowState>(
    ledger: &Ledger<S>,
    ready: Ready<S>,
    attempts: u32,
    duration: Duration,
    step: Step<S>,
) -> Ended<S> {
    let next = match ledger.graph().next(&ready.node, &step.next) {
        Ok(next) => next,
        Err(error) => {
            ledger.emit(FlowEvent::NodeFailed {
                node: ready.node,
                branch: ready.branch,
                fault: error.fault(),
            });
            return Ended::Failed(error);
        }
    };
    let record = Record {
        id: 0,
        node: ready.node,
        branch: ready.branch,
        visit: ready.visit,
        attempts,
        next,
        data: step.data,
        duration,
        usage: step.usage,
    };
    Ended::Finished(step.state, record)
}
