//! [`Summary`]: the facts about a run, from which its result is made.

use std::{collections::BTreeMap, fmt, time::Duration};

use agcore_chat::{CostTally, Money, Usage, UsageTracker};
use serde_json::Value;

use crate::{
    failure::ErrorInfo,
    flow::FlowEnd,
    result::{Denial, RunResult, RunUsage, Status},
    tokens::{Cost, Tokens, UsageTotals},
};

/// The name of the limit of tool rounds.
const TOOL_ROUNDS: &str = "max_tool_turns";

/// The end of a run, for its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// `None` if a limit was reached: the events name it.
    status: Option<Status>,
    exit_code: u8,
    error: Option<ErrorInfo>,
}

impl RunEnd {
    /// Returns the end of a run that succeeded.
    pub fn ok() -> Self {
        Self {
            status: Some(Status::Ok),
            exit_code: 0,
            error: None,
        }
    }

    /// Returns the end of a run that failed, with the exit code of the process.
    pub fn failed(status: Status, exit_code: u8, error: ErrorInfo) -> Self {
        Self {
            status: Some(status),
            exit_code,
            error: Some(error),
        }
    }

    /// Returns the end of a run that reached a limit. Its status is [`Status::MaxTurns`] if the events say that it was the limit of
    /// tool rounds, and [`Status::MaxBudget`] otherwise.
    pub fn limited(exit_code: u8, error: ErrorInfo) -> Self {
        Self {
            status: None,
            exit_code,
            error: Some(error),
        }
    }
}

/// Returns the cost of a call by the names of the provider and the model, if it is known.
pub(crate) type Estimate = dyn Fn(&str, &str, &Usage) -> Option<Money> + Send + Sync;

/// Estimates the costs that the server does not report.
pub(crate) struct Estimates {
    /// The name of the price table.
    pub(crate) source: String,
    pub(crate) cost: Box<Estimate>,
}

/// The facts about a run.
#[derive(Default)]
pub(crate) struct Summary {
    /// The text of the last message, or of the part of it that arrived.
    pub(crate) text: Option<String>,
    /// The value that the answer is, with a schema.
    pub(crate) value: Option<Value>,
    /// Why the model stopped.
    pub(crate) stop_reason: Option<String>,
    /// The limit that was reached.
    pub(crate) limit: Option<String>,
    /// The calls that were not allowed.
    pub(crate) denials: Vec<Denial>,
    /// The end of a flow.
    pub(crate) flow: Option<FlowEnd>,
    /// The tokens of the turn. Until it ends, `counted` has those that are known.
    pub(crate) turn: Option<UsageTracker>,
    /// The tokens of the session.
    pub(crate) session: Option<UsageTracker>,
    last_call: Option<Tokens>,
    counted: UsageTracker,
    by_model: BTreeMap<String, UsageTracker>,
    calls_with_cost: u64,
    /// Estimates costs.
    pub(crate) estimates: Option<Estimates>,
    estimated: CostTally,
}

impl Summary {
    /// Counts a model call.
    pub(crate) fn count(&mut self, provider: &str, model: &str, usage: Option<&Usage>) {
        if let (Some(estimates), Some(usage)) = (&self.estimates, usage)
            && let Some(cost) = (estimates.cost)(provider, model, usage)
        {
            self.estimated.add(&cost);
        }
        self.last_call = usage.map(Tokens::from);
        self.counted.record(usage);
        self.by_model.entry(model.to_owned()).or_default().record(usage);
        self.calls_with_cost += u64::from(usage.is_some_and(|usage| usage.cost.is_some()));
    }

    /// Returns the result of a run that ended like this, after this time.
    pub(crate) fn result(&self, end: RunEnd, duration: Duration) -> RunResult {
        let turn = self.turn.as_ref().unwrap_or(&self.counted);
        let session = self.session.as_ref().unwrap_or(turn);
        RunResult {
            status: end.status.unwrap_or_else(|| self.limit_status()),
            exit_code: end.exit_code,
            text: self.text.clone(),
            value: self.value.clone(),
            stop_reason: self.stop_reason.clone(),
            error: end.error,
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
        match (&self.estimates, self.estimated.exact(turn.calls)) {
            (Some(estimates), Some(cost)) if reported.amount.is_none() => Cost::estimated(&cost, &estimates.source),
            _ => reported,
        }
    }

    fn limit_status(&self) -> Status {
        match self.limit.as_deref() {
            Some(TOOL_ROUNDS) => Status::MaxTurns,
            _ => Status::MaxBudget,
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
    fn the_events_name_the_limit_that_was_reached() {
        let end = || RunEnd::limited(7, ErrorInfo::new("limit", "why"));
        let check = |limit: Option<&str>, expected: Status| {
            let summary = Summary {
                limit: limit.map(str::to_owned),
                ..Summary::default()
            };
            let result = summary.result(end(), Duration::ZERO);
            assert_eq!((result.status, result.exit_code), (expected, 7), "{limit:?}");
            assert_eq!(result.error.unwrap().message, "why");
        };
        check(Some(TOOL_ROUNDS), Status::MaxTurns);
        check(Some("max_tokens"), Status::MaxBudget);
        check(None, Status::MaxBudget);
    }

    #[test]
    fn other_ends_are_as_they_were_reported() {
        let summary = Summary {
            limit: Some(TOOL_ROUNDS.to_owned()),
            ..Summary::default()
        };
        let failed = RunEnd::failed(Status::Suspended, 8, ErrorInfo::new("suspended", "why"));
        let result = summary.result(failed, Duration::ZERO);
        assert_eq!((result.status, result.exit_code), (Status::Suspended, 8));
        let result = summary.result(RunEnd::ok(), Duration::from_millis(3));
        assert_eq!((result.status, result.exit_code, result.error), (Status::Ok, 0, None));
        assert_eq!((result.usage, result.cost), (RunUsage::default(), Cost::default()));
        assert_eq!(result.duration_ms, 3);
    }

    #[test]
    fn a_cost_that_the_server_did_not_report_is_estimated() {
        let price = |amount: Option<i64>| Estimates {
            source: "table".to_owned(),
            cost: Box::new(move |_, _, _| amount.map(|micros| Money::from_micros(micros, "USD"))),
        };
        let check = |amount: Option<i64>, expected: Option<&str>| {
            let mut summary = Summary {
                estimates: Some(price(amount)),
                ..Summary::default()
            };
            summary.count("p", "m", Some(&Usage::new(1, 1)));
            let cost = summary.result(RunEnd::ok(), Duration::ZERO).cost;
            assert_eq!((cost.amount.as_deref(), cost.exact), (expected, false));
            assert_eq!(cost.price_table.is_some(), expected.is_some());
        };
        check(Some(1_250), Some("0.001250"));
        check(None, None);
    }

    #[test]
    fn distinguishes_the_last_call_the_turn_and_models() {
        let mut summary = Summary::default();
        summary.count("", "a", Some(&Usage::new(10, 5)));
        summary.count("", "b", Some(&Usage::new(20, 1)));
        summary.count("", "b", None);
        let usage = summary.result(RunEnd::ok(), Duration::ZERO).usage;
        assert_eq!(usage.last_call, None);
        let turn = usage.turn.unwrap();
        assert_eq!((turn.tokens.input, turn.calls, turn.complete), (Some(30), 3, false));
        assert!(usage.by_model["a"].complete && !usage.by_model["b"].complete);
    }
}
