//! [`Summary`]: the facts about a run, from which its result is made.

use std::{collections::BTreeMap, fmt, time::Duration};

use agcore::chat::{Usage, UsageTracker};
use serde_json::Value;

use super::{
    failure::ErrorInfo,
    flow::FlowEnd,
    line::{Denial, RunResult, RunUsage, Status},
    tokens::{Cost, Tokens, UsageTotals},
};
use crate::{
    exit::{Failure, FailureKind},
    prices::{Prices, Tally},
};

/// The name of the limit of tool rounds.
const TOOL_ROUNDS: &str = "max_tool_turns";

/// The facts about a run.
#[derive(Default)]
pub(super) struct Summary {
    /// The text of the last message, or of the part of it that arrived.
    pub(super) text: Option<String>,
    /// The value that the answer is, with a schema.
    pub(super) value: Option<Value>,
    /// Why the model stopped.
    pub(super) stop_reason: Option<String>,
    /// The limit that was reached.
    pub(super) limit: Option<String>,
    /// The calls that were not allowed.
    pub(super) denials: Vec<Denial>,
    /// The end of a flow.
    pub(super) flow: Option<FlowEnd>,
    /// The tokens of the turn. Until it ends, `counted` is what is known.
    pub(super) turn: Option<UsageTracker>,
    /// The tokens of the session.
    pub(super) session: Option<UsageTracker>,
    last_call: Option<Tokens>,
    counted: UsageTracker,
    by_model: BTreeMap<String, UsageTracker>,
    calls_with_cost: u64,
    /// The prices for estimates.
    pub(super) prices: Option<Prices>,
    estimated: Tally,
}

impl Summary {
    /// Counts a model call.
    pub(super) fn count(&mut self, provider: &str, model: &str, usage: Option<&Usage>) {
        if let (Some(prices), Some(usage)) = (&self.prices, usage)
            && let Some(cost) = prices.cost(provider, model, usage)
        {
            self.estimated.add(&cost);
        }
        self.last_call = usage.map(Tokens::from);
        self.counted.record(usage);
        self.by_model.entry(model.to_owned()).or_default().record(usage);
        self.calls_with_cost += u64::from(usage.is_some_and(|usage| usage.cost.is_some()));
    }

    /// Returns the result of a run that ended like this, after this time.
    pub(super) fn result(&self, ended: Result<(), &Failure>, duration: Duration) -> RunResult {
        let turn = self.turn.as_ref().unwrap_or(&self.counted);
        let session = self.session.as_ref().unwrap_or(turn);
        RunResult {
            status: ended.map_or_else(|failure| self.status(failure.kind()), |()| Status::Ok),
            exit_code: ended.map_or_else(|failure| failure.kind().exit_code(), |()| 0),
            text: self.text.clone(),
            value: self.value.clone(),
            stop_reason: self.stop_reason.clone(),
            error: ended.err().map(|failure| ErrorInfo {
                kind: failure.error_kind().to_owned(),
                message: failure.to_string(),
            }),
            usage: RunUsage {
                last_call: self.last_call.clone(),
                turn: totals(turn),
                session: totals(session),
                by_model: self
                    .by_model
                    .iter()
                    .filter_map(|(model, tracker)| Some((model.clone(), totals(tracker)?)))
                    .collect(),
            },
            cost: self.cost(turn),
            denials: self.denials.clone(),
            flow: self.flow.clone(),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            num_model_calls: turn.calls,
        }
    }

    /// Returns the cost that the server reported, else an estimate, if there are prices for all calls.
    fn cost(&self, turn: &UsageTracker) -> Cost {
        let reported = Cost::reported(turn, self.calls_with_cost);
        match (&self.prices, self.estimated.exact(turn.calls)) {
            (Some(prices), Some(cost)) if reported.amount.is_none() => Cost::estimated(&cost, &prices.source),
            _ => reported,
        }
    }

    fn status(&self, kind: FailureKind) -> Status {
        match kind {
            FailureKind::Incomplete => Status::Incomplete,
            FailureKind::Denied => Status::Denied,
            FailureKind::Limit if self.limit.as_deref() == Some(TOOL_ROUNDS) => Status::MaxTurns,
            FailureKind::Limit => Status::MaxBudget,
            FailureKind::Suspended => Status::Suspended,
            FailureKind::Cancelled | FailureKind::Terminated => Status::Interrupted,
            FailureKind::Task
            | FailureKind::Usage
            | FailureKind::Key
            | FailureKind::Unreachable
            | FailureKind::Panic
            | FailureKind::OutputClosed => Status::Error,
        }
    }
}

impl fmt::Debug for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summary")
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}

/// Returns the tokens of these calls, or `None` if there were no calls.
fn totals(tracker: &UsageTracker) -> Option<UsageTotals> {
    (tracker.calls > 0).then(|| tracker.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_exit_code_agree() {
        let summary = Summary {
            limit: Some(TOOL_ROUNDS.to_owned()),
            ..Summary::default()
        };
        let check = |kind, status, exit_code| {
            let result = summary.result(Err(&Failure::new(kind, "why")), Duration::ZERO);
            assert_eq!((result.status, result.exit_code), (status, exit_code));
            assert_eq!(result.error.unwrap().message, "why");
        };
        check(FailureKind::Task, Status::Error, 1);
        check(FailureKind::Key, Status::Error, 3);
        check(FailureKind::Incomplete, Status::Incomplete, 5);
        check(FailureKind::Limit, Status::MaxTurns, 7);
        check(FailureKind::Suspended, Status::Suspended, 8);
        check(FailureKind::Panic, Status::Error, 101);
        check(FailureKind::Cancelled, Status::Interrupted, 130);
        check(FailureKind::Terminated, Status::Interrupted, 143);
        let failed = Summary::default().result(Err(&Failure::new(FailureKind::Limit, "why")), Duration::ZERO);
        assert_eq!(failed.status, Status::MaxBudget);
        let result = summary.result(Ok(()), Duration::ZERO);
        assert_eq!((result.status, result.exit_code, result.error), (Status::Ok, 0, None));
        assert_eq!((result.usage, result.cost), (RunUsage::default(), Cost::default()));
    }

    #[test]
    fn distinguishes_the_last_call_the_turn_and_models() {
        let mut summary = Summary::default();
        summary.count("", "a", Some(&Usage::new(10, 5)));
        summary.count("", "b", Some(&Usage::new(20, 1)));
        summary.count("", "b", None);
        let usage = summary.result(Ok(()), Duration::ZERO).usage;
        assert_eq!(usage.last_call, None);
        let turn = usage.turn.unwrap();
        assert_eq!((turn.tokens.input, turn.calls, turn.complete), (Some(30), 3, false));
        assert!(usage.by_model["a"].complete && !usage.by_model["b"].complete);
    }
}
