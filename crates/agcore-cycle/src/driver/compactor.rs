//! [`Compactor`]: measures requests, and plans how a conversation is compacted.

use std::{borrow::Cow, sync::Arc};

use agcore_chat::{AssistantMessage, ChatRequest, Message, Messages, TokenEstimator, Tool, WindowSettings, summarized};
use agcore_llm::ProviderInfo;

use crate::{
    compact::{CompactionSettings, Gauge, Plan, Pressure, SummaryRequest, Task, ToolTokens},
    machine::{Compact, CompactReason, Outcome},
    options::CycleSettings,
};

/// Decides when a conversation is compacted, and how.
pub(super) struct Compactor<'a> {
    settings: &'a CompactionSettings,
    estimator: &'a Arc<dyn TokenEstimator>,
    tool_tokens: &'a ToolTokens,
    gauge: &'a mut Gauge,
    /// Whether a compaction was tried for the next request.
    tried: bool,
    /// The tokens of the request that the model rejected as too long.
    overflow: Option<u64>,
    /// The tokens that requests did not contain, because the model saw shorter results.
    saved: u64,
}

/// The parts of the next request that have tokens.
pub(super) struct RequestParts<'r> {
    /// The instructions that precede the conversation.
    pub(super) prelude: &'r [Arc<Message>],
    /// The messages that may be changed, as the model sees them.
    pub(super) older: Cow<'r, [Arc<Message>]>,
    /// The messages that the turn adds, as the model sees them.
    pub(super) added: Cow<'r, [Arc<Message>]>,
    pub(super) tools: Option<Arc<[Tool]>>,
    /// The text that asking for typed output adds.
    pub(super) output: &'r str,
}

impl RequestParts<'_> {
    fn messages(&self) -> [&[Arc<Message>]; 3] {
        [self.prelude, &self.older, &self.added]
    }
}

impl<'a> Compactor<'a> {
    pub(super) fn new(settings: &'a CycleSettings, gauge: &'a mut Gauge) -> Self {
        gauge.set_estimator(&settings.estimator);
        Self {
            settings: &settings.compaction,
            estimator: &settings.estimator,
            tool_tokens: &settings.tool_tokens,
            gauge,
            tried: false,
            overflow: None,
            saved: 0,
        }
    }

    /// Returns the tokens that requests did not contain, because the model saw shorter results.
    pub(super) fn saved(&self) -> u64 {
        self.saved
    }

    /// Returns whether the next request may have to be compacted. Each request is compacted at most once: what did not help
    /// will not help again.
    pub(super) fn is_armed(&self) -> bool {
        self.settings.enabled && !self.tried
    }

    /// Allows a compaction of the next request.
    pub(super) fn rearm(&mut self) {
        self.tried = false;
    }

    /// Records that the model accepted a request.
    pub(super) fn accepted(&mut self) {
        self.overflow = None;
    }

    /// Returns the compaction to apply if the next request reaches the threshold.
    pub(super) fn at_threshold(&mut self, parts: &RequestParts<'_>, provider: &ProviderInfo) -> Option<Outcome> {
        let window = self.window(provider);
        // Usually the sizes alone show that the request fits.
        if !window.is_reached(self.max_tokens(parts)) {
            return None;
        }
        let tokens = self.request_tokens(parts);
        if !window.is_reached(tokens) {
            return None;
        }
        let plan = self.plan(parts, Pressure::Threshold, tokens, &window);
        if plan.is_empty() {
            return None;
        }
        self.tried = true;
        Some(outcome(CompactReason::Threshold, tokens, plan))
    }

    /// Returns the compaction to apply after the model rejected the request as too long. It may be empty.
    pub(super) fn after_overflow(&mut self, parts: &RequestParts<'_>, provider: &ProviderInfo) -> Outcome {
        let tokens = self.request_tokens(parts);
        let plan = if self.settings.enabled {
            self.plan(parts, Pressure::Overflow, tokens, &self.window(provider))
        } else {
            Plan::empty(tokens)
        };
        self.tried = true;
        self.overflow = Some(tokens);
        outcome(CompactReason::Overflow, tokens, plan)
    }

    /// Returns the strongest compaction that is possible, if any.
    pub(super) fn on_request(&self, parts: &RequestParts<'_>, tokens: u64, provider: &ProviderInfo) -> Option<Outcome> {
        let plan = self.plan(parts, Pressure::Asked, tokens, &self.window(provider));
        (!plan.is_empty()).then(|| outcome(CompactReason::Asked, tokens, plan))
    }

    /// Builds the request for a summary of these messages. `main` is the provider of the conversation, `summarizer` the one
    /// that is asked, and `request` the model and parameters of the conversation's requests.
    pub(super) fn summary_request(
        &self,
        older: &[Arc<Message>],
        main: &ProviderInfo,
        summarizer: &ProviderInfo,
        request: &ChatRequest,
    ) -> ChatRequest {
        let is_main = self.settings.provider.is_none();
        let window = if is_main {
            self.window(main)
        } else {
            WindowSettings::new().for_model(summarizer.capabilities.context_window)
        };
        // The model has just reported that its window is smaller, so do not trust the configured size.
        let limit = self.overflow.filter(|_| is_main).map(|tokens| tokens / 2);
        let mut summary = SummaryRequest {
            settings: self.settings,
            window: &window,
            limit,
            estimator: &**self.estimator,
        }
        .build(older);
        if is_main {
            summary.model.clone_from(&request.model);
            summary.extra_headers.clone_from(&request.extra_headers);
        }
        summary
    }

    /// Returns the tokens of the next request with this summary in place of the first `cut` messages.
    pub(super) fn tokens_with_summary(
        &mut self,
        parts: &RequestParts<'_>,
        cut: usize,
        summary: &AssistantMessage,
    ) -> u64 {
        let messages = summarized(&[&*parts.older, &*parts.added].concat(), cut, summary.text().trim());
        let messages = self.estimator.messages(&messages);
        let prelude = self.estimator.messages(parts.prelude);
        messages
            .saturating_add(prelude)
            .saturating_add(self.tool_tokens(parts))
            .saturating_add(self.estimator.text(parts.output))
    }

    /// Returns the messages of the next request, in which shorter results save this number of tokens.
    pub(super) fn messages(&mut self, parts: [&[Arc<Message>]; 3], saved: u64) -> Messages {
        self.saved = self.saved.saturating_add(saved);
        self.gauge.messages(&parts)
    }

    /// Returns the estimated tokens of the next request.
    pub(super) fn request_tokens(&mut self, parts: &RequestParts<'_>) -> u64 {
        let tools = self.tool_tokens(parts);
        let messages = self.gauge.tokens(&parts.messages());
        messages
            .saturating_add(tools)
            .saturating_add(self.estimator.text(parts.output))
    }

    /// Returns an upper bound of the tokens of the next request, without counting them.
    fn max_tokens(&mut self, parts: &RequestParts<'_>) -> u64 {
        let bound = |tools| self.tool_tokens.bound(tools, self.estimator);
        let tools = parts.tools.as_ref().map_or(0, bound);
        self.gauge.max_tokens(&parts.messages()).saturating_add(tools)
    }

    fn tool_tokens(&self, parts: &RequestParts<'_>) -> u64 {
        let tokens = |tools| self.tool_tokens.tokens(tools, self.estimator);
        parts.tools.as_ref().map_or(0, tokens)
    }

    fn plan(&self, parts: &RequestParts<'_>, pressure: Pressure, tokens: u64, window: &WindowSettings) -> Plan {
        Task {
            older: &parts.older,
            added: parts.added.len(),
            tokens,
            window,
            pressure,
            summaries: self.settings.summaries,
            estimator: &**self.estimator,
        }
        .plan()
    }

    /// Returns the model's context window, or the default if it is unknown.
    fn window(&self, provider: &ProviderInfo) -> WindowSettings {
        let known = provider.capabilities.context_window;
        self.settings.window.clone().for_model(known)
    }
}

fn outcome(reason: CompactReason, tokens: u64, plan: Plan) -> Outcome {
    let compact = Compact::new(reason, tokens)
        .with_results(plan.results, plan.tokens_pruned)
        .with_cut(plan.cut);
    Outcome::Compact(compact)
}
