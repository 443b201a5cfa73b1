//! [`UnfinishedCall`]: the call of the model that a saved state waits for.

use std::time::SystemTime;

use agcore_chat::{AnsweredBy, ModelCall, Text, UsageTracker};
use agcore_llm::LlmProvider;

use crate::{
    machine::{Machine, Outcome, Purpose, Step},
    options::CycleSettings,
};

/// The call of the model that a state waits for whose process has ended: it may have been sent, and then it is paid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnfinishedCall {
    /// Whether the recorder wants each call.
    is_logged: bool,
}

impl UnfinishedCall {
    /// Returns the call that a state waits for, if it waits for one.
    pub(crate) fn of(machine: &Machine, is_logged: bool) -> Option<Self> {
        matches!(machine.next(), Step::Call(_)).then_some(Self { is_logged })
    }

    /// Returns the outcomes that count the call as lost, or none if the state no longer waits for it.
    pub(crate) fn outcomes(
        self,
        machine: &Machine,
        provider: &dyn LlmProvider,
        settings: &CycleSettings,
        now: SystemTime,
    ) -> Vec<Outcome> {
        let Step::Call(plan) = machine.next() else {
            return Vec::new();
        };
        let mut lost = UsageTracker::default();
        lost.record(None);
        let lost = Outcome::Lost(Box::new(lost));
        if !self.is_logged {
            return vec![lost];
        }
        let provider = settings.provider_for(plan.purpose, provider);
        let mut call = ModelCall::new(first_route(provider, &settings.request.model), now);
        call.is_reply = plan.purpose != Purpose::Summary;
        vec![Outcome::Called(Box::new(call)), lost]
    }
}

/// Returns the route that a request for a model takes first.
pub(crate) fn first_route(provider: &dyn LlmProvider, model: &str) -> AnsweredBy {
    let mut route = None;
    provider.visit_routes(model, &mut |first| {
        route.get_or_insert_with(|| {
            let mut who = AnsweredBy::new(Text::from(first.provider), Text::from(first.model));
            who.key = first.key.map(Text::from);
            who
        });
    });
    route.unwrap_or_else(|| AnsweredBy::new("", model))
}
