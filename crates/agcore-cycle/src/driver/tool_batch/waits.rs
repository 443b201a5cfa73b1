//! [`Waits`]: which running calls wait for a person.

use agcore_chat::{Text, ToolReport};

/// The calls that work, and those that wait for a person.
#[derive(Default)]
pub(super) struct Waits {
    /// The calls that work.
    working: Vec<Text>,
    /// The calls that wait.
    waiting: Vec<Text>,
}

impl Waits {
    /// Records that these calls work.
    pub(super) fn begin(&mut self, calls: impl IntoIterator<Item = Text>) {
        self.working.extend(calls);
    }

    /// Records what an executor reports.
    pub(super) fn record(&mut self, report: &ToolReport) {
        match report {
            ToolReport::Began { calls } => {
                for call in calls {
                    self.remove(call);
                }
                self.begin(calls.iter().cloned());
            }
            ToolReport::Waiting { call_id, waiting: true } => {
                self.remove(call_id);
                self.waiting.push(call_id.clone());
            }
            ToolReport::Waiting {
                call_id,
                waiting: false,
            } => {
                self.remove(call_id);
                self.working.push(call_id.clone());
            }
            ToolReport::Settled { call_id, .. } => self.remove(call_id),
            _ => {}
        }
    }

    /// Returns whether all work waits for a person: at least one call does, and none works.
    pub(super) fn is_only_waiting(&self) -> bool {
        self.working.is_empty() && !self.waiting.is_empty()
    }

    /// Forgets a call.
    pub(super) fn remove(&mut self, call: &Text) {
        self.working.retain(|other| other != call);
        self.waiting.retain(|other| other != call);
    }
}
