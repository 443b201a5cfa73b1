//! [`fault_for_users`]: errors as users see them.

use agcore_agui::Input;
use agcore_chat::{ContextEvent, EventKind, Fault, FaultKind, ModelEvent, TurnEvent};

/// Returns an error with a text that depends on its kind only. The message of an error may name addresses, files and accounts of
/// the operator; it is in the log, where it is found by the id of the run.
pub(crate) fn fault_for_users(fault: &Fault, run: &str) -> Fault {
    // Of limits, the message is written by the agent loop, and users need it.
    if matches!(fault.kind, FaultKind::Limit | FaultKind::Cancelled) {
        return Fault::new(fault.kind, fault.message.clone()).with_retryable(fault.retryable);
    }
    let message = format!("{} (run {run})", text_of(fault.kind));
    Fault::new(fault.kind, message).with_retryable(fault.retryable)
}

/// Returns an input without the messages of errors.
pub(super) fn input_for_users(input: Input, run: &str) -> Input {
    match input {
        Input::Event { mut event, step } => {
            if let Some(fault) = fault_of(&mut event.kind) {
                *fault = fault_for_users(fault, run);
            }
            Input::Event { event, step }
        }
        other => other,
    }
}

fn fault_of(kind: &mut EventKind) -> Option<&mut Fault> {
    match kind {
        EventKind::Turn(TurnEvent::Error(fault))
        | EventKind::Model(ModelEvent::RetryScheduled { fault, .. } | ModelEvent::StreamRestarted { fault })
        | EventKind::Context(ContextEvent::CompactionFailed { fault }) => Some(fault),
        _ => None,
    }
}

fn text_of(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Auth | FaultKind::Permission | FaultKind::Quota => {
            "the server may not use its model at the moment; contact its operator"
        }
        FaultKind::NotFound => "the model of the agent is not available; contact the operator of the server",
        FaultKind::InvalidRequest => "the request was refused; change it, or contact the operator of the server",
        FaultKind::ContextLength => "the conversation is too long for the model; start a new thread",
        FaultKind::ContentFilter => "a filter has rejected the request or the answer; change the request",
        FaultKind::RateLimit | FaultKind::Overloaded => "the model is busy; try again later",
        FaultKind::Server | FaultKind::Connection => "the model cannot be reached at the moment; try again later",
        FaultKind::Timeout => "the model did not answer in time; try again later",
        FaultKind::InvalidToolCall | FaultKind::Truncated | FaultKind::Malformed => {
            "the answer of the model cannot be used; try again"
        }
        FaultKind::HookBlocked => "a rule of the operator has blocked the run",
        FaultKind::Tool => "a tool has failed, which ends the run; contact the operator of the server",
        FaultKind::Storage => "the database of the server has failed; try again later",
        _ => "the run has failed; contact the operator of the server",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_operators_systems_stay_in_the_log() {
        let message = "cannot connect to the PostgreSQL server at 10.0.0.7:5432";
        for kind in [
            FaultKind::Storage,
            FaultKind::Connection,
            FaultKind::Tool,
            FaultKind::Unknown,
        ] {
            let shown = fault_for_users(&Fault::new(kind, message).with_retryable(true), "r1");
            assert!(
                shown.message.ends_with("(run r1)") && !shown.message.contains("10.0"),
                "{shown}"
            );
            assert_eq!((shown.kind, shown.retryable), (kind, true));
        }
        let limit = fault_for_users(&Fault::new(FaultKind::Limit, "10 model calls"), "r1");
        assert_eq!(limit.message, "10 model calls");
    }
}
