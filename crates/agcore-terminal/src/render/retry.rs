//! Lines about calls of the model that are repeated or have to wait.

use agcore_chat::{ModelEvent, text::HumanDuration};

use super::text::continued;

/// Returns the line for an event, or `None` if there is nothing to show.
pub(super) fn retry_line(event: &ModelEvent) -> Option<String> {
    match event {
        ModelEvent::RetryScheduled { attempt, delay, fault } => {
            let next = format!("attempt {} in {}", attempt + 1, HumanDuration(*delay));
            Some(format!("↻ {}", continued(&fault.to_string(), &next)))
        }
        ModelEvent::StreamRestarted { fault } => {
            let next = "the answer is restarted";
            Some(format!("↻ {}", continued(&fault.to_string(), next)))
        }
        ModelEvent::WaitingForLimit { delay, limit } => {
            Some(format!("… waiting {} for {limit}", HumanDuration(*delay)))
        }
        _ => None,
    }
}
