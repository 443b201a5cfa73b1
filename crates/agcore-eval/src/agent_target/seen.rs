//! Observes a session after its turns.

use std::sync::Arc;

use agcore_agent::AgentSession;
use agcore_chat::Money;
use serde_json::Map;

use crate::observation::{Observation, ObservedCall};

/// Adds the calls and the usage of a session.
pub(super) async fn observe(session: &AgentSession, seen: &mut Observation) {
    for message in session.messages().await {
        let Some(reply) = message.as_assistant() else { continue };
        for call in reply.tool_calls() {
            let arguments = call.arguments().map_or_else(|_| Map::new(), Clone::clone);
            seen.calls.push(ObservedCall::new(call.name.as_str(), arguments));
        }
    }
    let usage = session.usage().await;
    seen.steps = usage.calls;
    seen.tokens = usage.total().filter(|_| usage.is_complete());
    let spent = session.spent().await;
    let costs = spent.money.iter().filter(|_| !spent.estimated);
    seen.costs = costs
        .map(|(currency, micros)| Money::from_micros(i64::try_from(*micros).unwrap_or(i64::MAX), Arc::clone(currency)))
        .collect();
}
