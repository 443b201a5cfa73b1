//! [`TapeExecutor`]: an executor that answers calls of tools from a tape.

use std::{collections::HashSet, sync::Arc, time::Duration};

use agcore_chat::{Fault, FaultKind, Tool, ToolExecutor, ToolOutcome, ToolReport, ToolReports, ToolWork};
use futures_util::{StreamExt, stream};

use super::{Next, Tape};

/// Answers calls from a tape instead of running tools. Only handoffs run: they change nothing but who answers.
pub(crate) struct TapeExecutor {
    tape: Arc<Tape>,
    replaced: Arc<dyn ToolExecutor>,
    /// The names of the tools that run.
    handoffs: HashSet<String>,
}

impl TapeExecutor {
    pub(crate) fn new(tape: Arc<Tape>, replaced: Arc<dyn ToolExecutor>, handoffs: HashSet<String>) -> Self {
        Self {
            tape,
            replaced,
            handoffs,
        }
    }
}

impl ToolExecutor for TapeExecutor {
    fn definitions(&self) -> Arc<[Tool]> {
        self.replaced.definitions()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let (handoffs, others): (Vec<ToolWork>, Vec<ToolWork>) = work
            .into_iter()
            .partition(|work| self.handoffs.contains(&work.call.name));
        for work in &handoffs {
            self.tape.skip(&work.call.id);
        }
        let known: HashSet<String> = self.definitions().iter().map(|tool| tool.name().to_owned()).collect();
        // Where the recording stops, calls may have results that come after one without a result.
        let (mut others, unfinished): (Vec<ToolWork>, Vec<ToolWork>) =
            others.into_iter().partition(|work| self.tape.has_result(&work.call.id));
        others.extend(unfinished);
        let tape = Arc::clone(&self.tape);
        let recorded = stream::iter(others).then(move |work| {
            let is_known = known.contains(&work.call.name);
            let next = tape.result(&work.call.id, &work.call.name, is_known);
            report(work, next)
        });
        if handoffs.is_empty() {
            return Box::pin(recorded);
        }
        // Every call counts as started already.
        let ran = self.replaced.execute(handoffs);
        let ran = ran.filter(|report| std::future::ready(!matches!(report, ToolReport::Began { .. })));
        Box::pin(ran.chain(recorded))
    }
}

async fn report(work: ToolWork, next: Next<ToolOutcome>) -> ToolReport {
    let outcome = match next {
        Next::Answer(outcome) => outcome,
        // The run is cancelled, which drops this future.
        Next::Stopped => std::future::pending().await,
        Next::Different(problem) => ToolOutcome::Fatal(Fault::new(FaultKind::InvalidRequest, problem)),
    };
    ToolReport::settled(work.call.id.as_str(), outcome, Duration::ZERO)
}
