//! [`check_order`]: the rules for the order of AG-UI events.

mod run_state;

use std::{borrow::Borrow, fmt};

use serde_json::Value;

use run_state::RunState;

/// An event that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderViolation {
    /// The index of the event; the number of events if an event is missing at the end.
    pub index: usize,
    /// The type of the event.
    pub event_type: String,
    /// The rule that it breaks.
    pub rule: String,
}

impl fmt::Display for OrderViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} ({}): {}", self.index, self.event_type, self.rule)
    }
}

impl std::error::Error for OrderViolation {}

/// Checks the order of the events of one or several runs, as a client receives them.
///
/// The rules are those of AG-UI 1.0, and some that its clients do not check: every run ends, a result comes after the end of its
/// call and once, ids of messages are not used twice, no member is `null` where that is forbidden, and nothing is sent for a
/// sub-agent that has ended.
///
/// # Errors
/// The first event that breaks a rule.
///
/// ```
/// use agcore_agui::check_order;
/// use serde_json::json;
///
/// let start = json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"});
/// let end = json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"});
/// assert!(check_order([&start, &end]).is_ok());
///
/// let text = json!({"type": "TEXT_MESSAGE_START", "messageId": "m"});
/// let violation = check_order([&start, &text, &end]).unwrap_err();
/// assert_eq!(violation.to_string(), "event 2 (RUN_FINISHED): the text message m is open");
/// ```
pub fn check_order(events: impl IntoIterator<Item = impl Borrow<Value>>) -> Result<(), OrderViolation> {
    let mut run = None;
    let mut count = 0;
    for (index, event) in events.into_iter().enumerate() {
        let event = event.borrow();
        count = index + 1;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        check_event(&mut run, kind, event).map_err(|rule| OrderViolation {
            index,
            event_type: kind.to_owned(),
            rule,
        })?;
    }
    match run {
        None | Some(RunState { has_ended: true, .. }) => Ok(()),
        Some(_) => Err(OrderViolation {
            index: count,
            event_type: "end of the log".to_owned(),
            rule: "the run has no terminal event".to_owned(),
        }),
    }
}

fn check_event(run: &mut Option<RunState>, kind: &str, event: &Value) -> Result<(), String> {
    if let Some(name) = null_member(event) {
        return Err(format!("the member {name} is null; leave it out"));
    }
    match (kind, run.as_mut()) {
        ("RUN_STARTED", Some(state)) if !state.has_ended => Err("a run has started already".to_owned()),
        ("RUN_STARTED", _) => {
            *run = Some(RunState::new(event)?);
            Ok(())
        }
        ("RUN_ERROR", None) => {
            *run = Some(RunState::failed());
            Ok(())
        }
        (_, None) => Err("the first event must be RUN_STARTED or RUN_ERROR".to_owned()),
        ("RUN_ERROR", Some(state)) if !state.has_failed => {
            state.has_ended = true;
            state.has_failed = true;
            Ok(())
        }
        (_, Some(state)) if state.has_ended => Err("the run has ended".to_owned()),
        ("RUN_FINISHED", Some(state)) => state.finish(event),
        (_, Some(state)) => state.event(kind, event),
    }
}

/// The members whose value is any JSON value, including `null`.
const ANY_VALUE: &[&str] = &["snapshot", "value", "event"];

fn null_member(event: &Value) -> Option<&str> {
    let members = event.as_object()?;
    let null = members
        .iter()
        .find(|(name, value)| value.is_null() && !ANY_VALUE.contains(&name.as_str()));
    null.map(|(name, _)| name.as_str())
}
