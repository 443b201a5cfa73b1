//! An executor that reports which calls begin.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{Text, Tool, ToolDefinition, ToolExecutor, ToolOutcome, ToolReport, ToolReports, ToolWork};
use futures_util::{StreamExt, stream};
use serde_json::json;

/// The fate of a call.
#[derive(Clone)]
pub(crate) enum Fate {
    /// It runs and ends like this.
    Runs(ToolOutcome),
    /// It ends like this without running.
    Refused(ToolOutcome),
    /// It waits for an approval that never comes.
    Waits,
    /// It begins and never ends.
    Hangs,
}

/// Runs calls as a closure decides, and keeps the ids of those that ran.
#[derive(Clone)]
pub(crate) struct Gate {
    names: Vec<&'static str>,
    decide: Arc<dyn Fn(&ToolWork) -> Fate + Send + Sync>,
    pub(crate) runs: Arc<Mutex<Vec<String>>>,
}

impl Gate {
    pub(crate) fn new(names: &[&'static str], decide: impl Fn(&ToolWork) -> Fate + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            names: names.to_vec(),
            decide: Arc::new(decide),
            runs: Arc::default(),
        })
    }

    pub(crate) fn runs(&self) -> Vec<String> {
        self.runs.lock().unwrap().clone()
    }
}

pub(crate) fn began(calls: &[&str]) -> ToolReport {
    ToolReport::Began {
        calls: calls.iter().map(|call| Text::from(*call)).collect(),
    }
}

impl ToolExecutor for Gate {
    fn definitions(&self) -> Arc<[Tool]> {
        let tool = |name: &&str| Tool::from(ToolDefinition::new(*name, "A tool.", json!({"type": "object"})));
        self.names.iter().map(tool).collect()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let report = |work: ToolWork| {
            let (id, runs) = (work.call.id.clone(), Arc::clone(&self.runs));
            let begins = stream::iter([began(&[&id])]);
            let run = {
                let id = id.clone();
                move || runs.lock().unwrap().push(id)
            };
            match (self.decide)(&work) {
                Fate::Runs(outcome) => begins
                    .chain(stream::once(async move {
                        run();
                        ToolReport::settled(id.as_str(), outcome, Duration::from_millis(7))
                    }))
                    .boxed(),
                Fate::Refused(outcome) => {
                    stream::iter([ToolReport::settled(id.as_str(), outcome, Duration::ZERO)]).boxed()
                }
                Fate::Waits => stream::pending().boxed(),
                Fate::Hangs => begins
                    .chain(stream::once(async move {
                        run();
                        std::future::pending().await
                    }))
                    .boxed(),
            }
        };
        let reports: Vec<_> = work.into_iter().map(report).collect();
        stream::select_all(reports).boxed()
    }

    fn reports_begin(&self) -> bool {
        true
    }
}
