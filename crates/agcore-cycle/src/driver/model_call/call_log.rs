//! [`CallLog`]: the attempts of a call, for recorders that compute costs.

use std::time::{Duration, SystemTime};

use agcore_chat::{AnsweredBy, ChatRequest, ChatResponse, ModelCall, Text, Usage};
use agcore_llm::LlmProvider;

use crate::unfinished_call::first_route;

/// The attempts of a call that have ended.
pub(super) struct CallLog {
    /// The route that is assumed until someone has answered.
    route: AnsweredBy,
    service_tier: Option<Text>,
    is_reply: bool,
    /// The wall clock at the moment `origin`.
    sent_at: SystemTime,
    origin: Duration,
    /// The moment at which the attempt in flight was sent.
    started: Duration,
    ended: Vec<ModelCall>,
}

impl CallLog {
    /// Creates the log of a call that is sent now.
    pub(super) fn new(provider: &dyn LlmProvider, request: &ChatRequest, sent_at: SystemTime, now: Duration) -> Self {
        Self {
            route: first_route(provider, &request.model),
            service_tier: request.service_tier.as_deref().map(Text::from),
            is_reply: true,
            sent_at,
            origin: now,
            started: now,
            ended: Vec::new(),
        }
    }

    /// Sets whether the call asks for a reply, which it does by default, or for a summary.
    pub(super) fn for_reply(self, is_reply: bool) -> Self {
        Self { is_reply, ..self }
    }

    /// Records that the next attempt starts at a moment.
    pub(super) fn start(&mut self, at: Duration) {
        self.started = at;
    }

    /// Records that the attempt in flight ended, with what has arrived of the answer.
    pub(super) fn end(&mut self, now: Duration, answer: Option<&ChatResponse>, usage: Option<&Usage>) {
        let route = answer.and_then(|answer| answer.answered_by.clone());
        let route = route.unwrap_or_else(|| self.route.clone());
        let sent_at = self.sent_at + self.started.saturating_sub(self.origin);
        let mut call = ModelCall::new(route, sent_at);
        let reported = answer.and_then(|answer| answer.model.as_deref());
        call.reported_model = reported
            .filter(|model| !model.is_empty() && **model != *call.route.model)
            .map(Text::from);
        let tier = answer.and_then(|answer| answer.service_tier.as_deref());
        call.service_tier = tier.map(Text::from).or_else(|| self.service_tier.clone());
        let latency = now.saturating_sub(self.started).as_millis();
        call.latency_ms = u64::try_from(latency).unwrap_or(u64::MAX);
        call.usage = usage.cloned();
        call.is_reply = self.is_reply;
        self.ended.push(call);
        self.started = now;
    }

    /// Takes the attempts that have ended.
    pub(super) fn take(&mut self) -> Vec<ModelCall> {
        std::mem::take(&mut self.ended)
    }
}
