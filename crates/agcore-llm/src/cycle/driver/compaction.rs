//! Making the conversation shorter: measuring, planning, asking for a summary.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, ChatRequest, Message, UsageTracker, WindowSettings, summarized};

use super::{
    model::{Unanswered, reply_of},
    spending::Refusal,
    state::Driver,
};
use crate::{
    compact::{CompactionReport, Gauge, Plan, Pressure, SummaryRequest, Task},
    cycle::machine::{Cause, Compact, CompactReason, Failure, Outcome, Purpose, Step, Summary},
    error::{LlmError, LlmErrorKind},
};

impl Driver<'_> {
    /// Makes the conversation shorter where the request that comes next would reach the threshold; says whether the machine
    /// was told of it. Once for each request: what did not help will not help at once.
    pub(super) async fn compact_if_due(&mut self) -> Result<bool, LlmError> {
        if self.compacted || !self.settings.compaction.enabled || self.machine.compaction_rests() {
            return Ok(false);
        }
        let window = self.window();
        // Mostly a look at the sizes is enough.
        if !window.is_reached(self.request_tokens_at_most()) {
            return Ok(false);
        }
        let tokens = self.request_tokens();
        if !window.is_reached(tokens) {
            return Ok(false);
        }
        let plan = self.plan(Pressure::Threshold, tokens, &window);
        if plan.is_empty() {
            return Ok(false);
        }
        self.compacted = true;
        self.absorb(compaction(CompactReason::Threshold, tokens, plan)).await?;
        Ok(true)
    }

    /// The model said that the conversation is too long for it.
    pub(super) async fn shorten(&mut self) -> Result<(), LlmError> {
        let tokens = self.request_tokens();
        let plan = if self.settings.compaction.enabled {
            self.plan(Pressure::Overflow, tokens, &self.window())
        } else {
            Plan::nothing(tokens)
        };
        self.compacted = true;
        self.too_long = Some(tokens);
        self.absorb(compaction(CompactReason::Overflow, tokens, plan)).await
    }

    /// Makes the conversation as short as it gets, whatever its length.
    pub(in crate::cycle) async fn compact(mut self) -> Result<CompactionReport, LlmError> {
        let tokens = self.request_tokens();
        self.report = CompactionReport::nothing(tokens);
        if self.machine.summing().is_none() {
            let plan = self.plan(Pressure::Asked, tokens, &self.window());
            if plan.is_empty() {
                return Ok(self.report);
            }
            self.absorb(compaction(CompactReason::Asked, tokens, plan)).await?;
        }
        if self.machine.summing().is_some() {
            self.sum_up().await?;
        }
        match self.error.take() {
            Some(error) if *error.kind() == LlmErrorKind::Cancelled => Err(error),
            _ => Ok(self.report),
        }
    }

    /// Asks for the summary that the machine waits for.
    pub(super) async fn sum_up(&mut self) -> Result<(), LlmError> {
        let Step::Call(asked) = self.machine.next() else {
            return Ok(());
        };
        let (older, cut) = (asked.history.to_vec(), asked.history.len());
        let request = Arc::new(self.summary_request(&older));
        let tokens = self.settings.estimator.request(&request);
        let outcome = match self.ask(request, tokens, Purpose::Summary).await? {
            Ok((response, lost)) => {
                let reply = reply_of(&response, lost);
                let tokens = self.tokens_with_summary(cut, &reply.message);
                Outcome::Summary(Summary::new(reply, tokens))
            }
            Err(Unanswered::Failed { error, lost }) if *error.kind() == LlmErrorKind::Cancelled => {
                return self.stop_summing(error, lost).await;
            }
            Err(Unanswered::Failed { error, lost }) => Outcome::Failed(Failure::new(error.fault()).with_lost(lost)),
            Err(Unanswered::Refused(refusal)) => Outcome::Failed(Failure::new(refusal.fault())),
            Err(Unanswered::OutOfTime { limit, lost }) => {
                Outcome::Failed(Failure::new(Refusal::Limit(limit).fault()).with_lost(lost))
            }
            Err(Unanswered::Blocked(reason)) => {
                Outcome::Failed(Failure::new(LlmError::new(LlmErrorKind::HookBlocked, reason).fault()))
            }
        };
        self.absorb(outcome).await
    }

    /// The call was cancelled: with it ends the turn that it was made for.
    async fn stop_summing(&mut self, error: LlmError, lost: UsageTracker) -> Result<(), LlmError> {
        let by_hand = self.sums_by_hand();
        let failure = Failure::new(error.fault()).with_lost(lost);
        self.error = Some(error);
        self.absorb(Outcome::Failed(failure)).await?;
        if by_hand {
            return Ok(());
        }
        self.absorb(Outcome::Stop(Cause::cancelled())).await
    }

    /// Whether a summary is waited for that somebody asked for.
    pub(super) fn sums_by_hand(&self) -> bool {
        let summing = self.machine.summing();
        summing.is_some_and(|compact| compact.reason == CompactReason::Asked)
    }

    fn summary_request(&self, older: &[Arc<Message>]) -> ChatRequest {
        let settings = &self.settings.compaction;
        let own = settings.provider.is_none();
        let info = self.provider_for(Purpose::Summary).info();
        let window = if own {
            self.window()
        } else {
            WindowSettings::new().for_model(info.capabilities.context_window)
        };
        // When the model has just said that the window is smaller, ours is not to be trusted.
        let most = self.too_long.filter(|_| own).map(|tokens| tokens / 2);
        let mut request = SummaryRequest {
            settings,
            window: &window,
            most,
            estimator: &*self.settings.estimator,
        }
        .of(older);
        if own {
            request.model.clone_from(&self.settings.request.model);
            request.extra_headers.clone_from(&self.settings.request.extra_headers);
        }
        request
    }

    /// Tokens of the request with this summary in place.
    fn tokens_with_summary(&mut self, cut: usize, summary: &AssistantMessage) -> u64 {
        let messages = summarized(&self.machine.view().messages(), cut, summary.text().trim());
        let messages = self.settings.estimator.messages(&messages);
        messages.saturating_add(self.frame_tokens())
    }

    fn plan(&self, pressure: Pressure, tokens: u64, window: &WindowSettings) -> Plan {
        let view = self.machine.view();
        Task {
            older: view.older,
            added: view.added.len(),
            tokens,
            window,
            pressure,
            summaries: self.settings.compaction.summaries,
            estimator: &*self.settings.estimator,
        }
        .plan()
    }

    /// The model's window, as far as it is known.
    fn window(&self) -> WindowSettings {
        let known = self.provider.info().capabilities.context_window;
        self.settings.compaction.window.clone().for_model(known)
    }

    /// Tokens of the request that comes next.
    pub(super) fn request_tokens(&mut self) -> u64 {
        let tools = self.tool_tokens();
        let view = self.machine.view();
        let parts = [&*self.settings.prelude, view.older, view.added];
        let messages = self.gauge.messages(&parts, &*self.settings.estimator);
        messages.saturating_add(tools).saturating_add(self.output_tokens())
    }

    /// Tokens that the request has at most, as far as that is known without counting.
    fn request_tokens_at_most(&mut self) -> u64 {
        let tools = self.tool_tokens();
        let view = self.machine.view();
        let parts = [&*self.settings.prelude, view.older, view.added];
        Gauge::messages_at_most(&parts, &*self.settings.estimator).saturating_add(tools)
    }

    /// Tokens of what stands around the conversation.
    fn frame_tokens(&mut self) -> u64 {
        let prelude = self.settings.estimator.messages(&self.settings.prelude);
        prelude
            .saturating_add(self.tool_tokens())
            .saturating_add(self.output_tokens())
    }

    /// Tokens of what a request says of typed output.
    fn output_tokens(&self) -> u64 {
        match (&self.form, self.machine.expectation()) {
            (Some(form), Some(_)) => self.settings.estimator.text(form.words()),
            _ => 0,
        }
    }

    fn tool_tokens(&mut self) -> u64 {
        match &self.options.tools {
            Some(tools) => self.gauge.tools(&tools.definitions(), &*self.settings.estimator),
            None => 0,
        }
    }
}

fn compaction(reason: CompactReason, tokens: u64, plan: Plan) -> Outcome {
    let compact = Compact::new(reason, tokens)
        .with_results(plan.results, plan.tokens_pruned)
        .with_cut(plan.cut);
    Outcome::Compact(compact)
}
