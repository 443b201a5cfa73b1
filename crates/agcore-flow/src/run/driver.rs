//! Runs the nodes that can run until none is left.

use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tracing::Instrument;

use super::{
    attempts::{self, Ended},
    ledger::{Ledger, Observer, Ready},
    opened::Opened,
    outcome::{FlowOutcome, Suspension},
    span,
};
use crate::{
    checkpoints::writer::document, error::FlowError, event::FlowEvent, flow::Flow, node::FlowState, resume::SavedRun,
    stop::Stop,
};

/// Runs a flow until it ends or waits for people.
pub(super) async fn drive<S: FlowState>(
    flow: &Flow<S>,
    opened: Opened<S>,
    stop: Stop,
    observer: Option<Observer>,
) -> Result<FlowOutcome<S>, FlowError> {
    let (is_resumed, is_changed) = (opened.is_resumed, opened.is_changed);
    let ledger = Arc::new(opened.into_ledger(flow, observer));
    ledger.emit(FlowEvent::RunStarted {
        flow: flow.name().to_owned(),
        is_resumed,
    });
    if is_changed {
        ledger.begin().await?;
    }
    run_nodes(flow, &ledger, &stop).await?;
    let progress = ledger.progress().await;
    if let Some(ended) = progress.ended() {
        return Ok(FlowOutcome::Finished(ended.state.get()?.clone()));
    }
    let interrupts = progress.interrupts();
    if interrupts.is_empty() {
        return Err(FlowError::corrupt(
            "the run can neither continue nor does it wait for an answer",
        ));
    }
    let saved = SavedRun(document(ledger.graph(), &progress)?);
    Ok(FlowOutcome::Suspended(Box::new(Suspension { interrupts, saved })))
}

async fn run_nodes<S: FlowState>(flow: &Flow<S>, ledger: &Arc<Ledger<S>>, stop: &Stop) -> Result<(), FlowError> {
    let mut nodes = FuturesUnordered::new();
    let mut ready = ledger.ready().await;
    loop {
        nodes.extend(ready.into_iter().map(|ready| run_node(flow, ledger, ready, stop)));
        let next = stop.token.run_until_cancelled(nodes.next()).await;
        let Some(ended) = next.ok_or_else(FlowError::cancelled)? else {
            return Ok(());
        };
        ready = ended?;
    }
}

/// Runs a node, saves how it ended, and returns the nodes that can run then.
async fn run_node<S: FlowState>(
    flow: &Flow<S>,
    ledger: &Arc<Ledger<S>>,
    ready: Ready<S>,
    stop: &Stop,
) -> Result<Vec<Ready<S>>, FlowError> {
    let span = span::node(&ready.node, ready.visit);
    let attempts = attempts::run(flow, ledger, ready, stop.child());
    let (branch, ended) = attempts.instrument(span.clone()).await;
    if let Ended::Failed(error) = &ended {
        span::failed(&span, error);
    }
    // Saving the end is not the work of the node.
    drop(span);
    match ended {
        Ended::Finished(state, record) => ledger.finish(&flow.parts().merges, state, record).await,
        Ended::Waits(node, interrupts) => {
            ledger.wait(&branch, &node, interrupts).await?;
            Ok(Vec::new())
        }
        Ended::Failed(error) => Err(error),
    }
}
