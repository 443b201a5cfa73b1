//! [`Denials`]: records which calls were denied, and why.

use std::sync::{Mutex, PoisonError};

use agcore::tools::{Arguments, AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider};
use agcore_workbench::{permission_mode::PermissionMode, program_tools::EACH_TIME};

use crate::exit::{Failure, FailureKind};

/// Records denied calls. Unlike the messages for the model, it names the rules.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<Vec<Denial>>);

#[derive(Debug, Clone, PartialEq)]
struct Denial {
    tool: String,
    arguments: Arguments,
    decider: Decider,
    reason: String,
}

impl Denials {
    /// Returns the failure for the calls that were denied because no one could be asked.
    pub(crate) fn unasked(&self, mode: PermissionMode) -> Option<Failure> {
        let advice = |tools: &[&str]| match mode {
            // It cannot be combined with --yes.
            PermissionMode::DontAsk => "Choose another --permission-mode".to_owned(),
            _ => format!("Pass --allow {}, or --yes for every tool", tools.join(" --allow ")),
        };
        self.unasked_with(mode, advice)
    }

    fn unasked_with(&self, mode: PermissionMode, advice: impl Fn(&[&str]) -> String) -> Option<Failure> {
        let mut unasked = self.all();
        unasked.retain(|denial| denial.decider == Decider::NoApprover);
        let obstacle = match mode {
            PermissionMode::DontAsk => "the permission mode dontAsk never asks",
            _ => "there is no terminal at which to ask",
        };
        let mut tools: Vec<&str> = unasked.iter().map(|denial| denial.tool.as_str()).collect();
        tools.sort_unstable();
        tools.dedup();
        let mut lines: Vec<String> = unasked
            .iter()
            .map(|Denial { tool, reason, .. }| {
                format!("{tool} was denied: it needs approval, and {obstacle} ({reason})")
            })
            .collect();
        lines.sort_unstable();
        lines.dedup();
        if lines.is_empty() {
            return None;
        }
        // Neither an option nor a rule allows these.
        let is_each_time = |denial: &Denial| denial.reason.ends_with(EACH_TIME);
        if unasked.iter().all(is_each_time) {
            lines.push("Run it at a terminal, and answer the question.".to_owned());
        } else {
            lines.push(format!(
                "{}, or allow the tool in your agcore.toml: [permissions] allow = {tools:?}.",
                advice(&tools)
            ));
        }
        Some(Failure::new(FailureKind::Denied, lines.join("\n")))
    }

    /// Returns whether the same call was denied more than once.
    pub(crate) fn has_repeated(&self) -> bool {
        let all = self.all();
        let is_repeated = |(index, denial)| all[..index].contains(denial);
        all.iter().enumerate().any(is_repeated)
    }

    /// Returns the failure for a single call, if it was denied.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let Denial {
            tool, decider, reason, ..
        } = self.all().pop()?;
        match decider {
            Decider::NoApprover => self.unasked_with(PermissionMode::Default, |_| "Pass --yes".to_owned()),
            // `--yes` approves everything else.
            Decider::Person if reason.contains("cannot be checked, because") => {
                Some(Failure::task(format!("{tool} was denied: {reason}")))
            }
            Decider::Person => Some(Failure::task(format!("{tool} was denied: you answered no"))),
            _ => Some(Failure::task(format!("{tool} was denied: {reason}"))),
        }
    }

    fn all(&self) -> Vec<Denial> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl AuditSink for Denials {
    fn record(&self, record: &AuditRecord<'_>) {
        if let AuditEvent::Decided {
            outcome: AuditOutcome::Denied,
            decider,
            reason,
            ..
        } = record.event
        {
            let denial = Denial {
                tool: record.tool.to_owned(),
                arguments: record.arguments.clone(),
                decider,
                reason: reason.to_string(),
            };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(denial);
        }
    }
}
