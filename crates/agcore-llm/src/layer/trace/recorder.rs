//! [`Recorder`]: collects attributes while a reply arrives, and records them in the span.

use std::time::Duration;

use agcore_chat::Usage;
use agcore_trace::{attribute, integer, record_list, span as names};
use tracing::{Level, Span, level_filters::LevelFilter};

use super::content;
use crate::reply::{Notice, ReplyItem};
use agcore_wire::{Fold, LlmError, ReplyDelta, ReplyStart};

/// Collects the attributes of a reply while it arrives.
pub(super) struct Recorder {
    has_started: bool,
    has_ended: bool,
    attempts: u32,
    finish_reasons: Vec<(u32, String)>,
    /// The usage of the current attempt.
    usage: Option<Box<Usage>>,
    /// The usage of the attempts before, which is paid as well.
    lost: Option<Box<Usage>>,
    /// The whole reply, if its content is recorded.
    fold: Option<Fold>,
    is_streamed: bool,
    /// The time of the last piece of output, if pieces are measured.
    last_chunk: Option<Duration>,
}

impl Recorder {
    pub(super) fn new(content: bool, is_streamed: bool) -> Self {
        Self {
            has_started: false,
            has_ended: false,
            attempts: 1,
            finish_reasons: Vec::new(),
            usage: None,
            lost: None,
            fold: content.then(Fold::new),
            is_streamed,
            last_chunk: None,
        }
    }

    /// Records an item. `elapsed` returns the time since the call was first polled.
    pub(super) fn record(&mut self, span: &Span, item: &ReplyItem, elapsed: impl Fn() -> Duration) {
        match item {
            ReplyItem::Delta(delta) => {
                if !std::mem::replace(&mut self.has_started, true) {
                    span.record(attribute::RESPONSE_TIME_TO_FIRST_CHUNK, elapsed().as_secs_f64());
                }
                self.delta(span, delta);
                self.measure_chunk(delta, elapsed);
            }
            ReplyItem::Notice(notice) => self.notice(span, notice),
            ReplyItem::End(end) => self.end(span, end.as_ref().err()),
        }
    }

    fn delta(&mut self, span: &Span, delta: &ReplyDelta) {
        match delta {
            ReplyDelta::Start(start) => record_start(span, start),
            ReplyDelta::Usage(usage) => self.usage = Some(usage.clone()),
            ReplyDelta::Finish { choice, reason } if self.finish_reasons.iter().all(|(known, _)| known != choice) => {
                self.finish_reasons.push((*choice, reason.as_str().to_owned()));
            }
            _ => {}
        }
        if let Some(fold) = &mut self.fold {
            fold.push(delta);
        }
    }

    /// Measures the time since the piece of output before, if a program makes metrics of it. The current span is that of the call.
    fn measure_chunk(&mut self, delta: &ReplyDelta, elapsed: impl Fn() -> Duration) {
        let is_output = matches!(
            delta,
            ReplyDelta::Text { .. }
                | ReplyDelta::Reasoning { .. }
                | ReplyDelta::Refusal { .. }
                | ReplyDelta::Call { .. }
        );
        // Not `tracing::enabled!`: the answers of filters would stay in the thread, and be taken for those about the next span.
        if !self.is_streamed || !is_output || LevelFilter::current() < LevelFilter::TRACE {
            return;
        }
        let now = elapsed();
        if let Some(last) = self.last_chunk.replace(now) {
            let seconds = now.saturating_sub(last).as_secs_f64();
            tracing::event!(target: names::CHUNK, Level::TRACE, agcore.chunk.seconds = seconds);
        }
    }

    fn notice(&mut self, span: &Span, notice: &Notice) {
        match notice {
            Notice::RetryScheduled { fault, delay, .. } => {
                tracing::info!(fault = %fault.kind, ?delay, "the call failed and is retried");
                self.next_attempt();
            }
            Notice::Restarted { fault, usage } => {
                if let Some(usage) = usage.as_ref().or(self.usage.as_ref()) {
                    self.lost.get_or_insert_default().add(usage);
                }
                tracing::info!(fault = %fault.kind, "the reply was truncated and starts over");
                self.next_attempt();
            }
            Notice::AnsweredBy(who) => {
                let key = who.key.as_deref().map(|key| format!(" ({key})")).unwrap_or_default();
                span.record(attribute::ANSWERED_BY, format!("{}:{}{key}", who.provider, who.model));
            }
            Notice::Waiting { limit, delay } => tracing::info!(%limit, ?delay, "the call waits for a limit"),
        }
        if let Some(fold) = &mut self.fold {
            notice.fold_into(fold);
        }
    }

    fn next_attempt(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
        self.finish_reasons.clear();
        self.usage = None;
        // The pause between two attempts does not count as time of the model.
        self.last_chunk = None;
    }

    fn end(&mut self, span: &Span, error: Option<&LlmError>) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        if let Some(error) = error {
            record_failure(span, &error.kind().fault_kind().to_string());
        }
        span.record(attribute::ATTEMPTS, i64::from(self.attempts));
        if !self.finish_reasons.is_empty() {
            self.finish_reasons.sort_by_key(|(choice, _)| *choice);
            let reasons: Vec<&str> = self.finish_reasons.iter().map(|(_, reason)| reason.as_str()).collect();
            record_list(span, attribute::RESPONSE_FINISH_REASONS, &reasons);
        }
        let mut usage = self.lost.take();
        if let Some(last) = &self.usage {
            usage.get_or_insert_default().add(last);
        }
        if let Some(usage) = usage {
            record_usage(span, &usage);
        }
        if let Some(fold) = self.fold.take() {
            content::record_reply(span, &fold.response());
        }
    }

    /// Records that the stream was dropped, which before its end counts as a cancelled call.
    pub(super) fn dropped(&mut self, span: &Span) {
        if !self.has_ended {
            self.end(span, None);
            record_failure(span, "cancelled");
        }
    }
}

fn record_failure(span: &Span, kind: &str) {
    span.record(attribute::ERROR_TYPE, kind);
    span.record(attribute::OTEL_STATUS_CODE, "ERROR");
}

fn record_start(span: &Span, start: &ReplyStart) {
    if let Some(id) = &start.id {
        span.record(attribute::RESPONSE_ID, id.as_str());
    }
    if let Some(model) = &start.model {
        span.record(attribute::RESPONSE_MODEL, model.as_str());
    }
}

fn record_usage(span: &Span, usage: &Usage) {
    let counters = [
        (attribute::USAGE_INPUT_TOKENS, usage.prompt_tokens),
        (attribute::USAGE_OUTPUT_TOKENS, usage.completion_tokens),
        (attribute::USAGE_CACHE_READ_INPUT_TOKENS, usage.cached()),
        (attribute::USAGE_CACHE_CREATION_INPUT_TOKENS, usage.cache_write()),
        (attribute::USAGE_REASONING_OUTPUT_TOKENS, usage.reasoning()),
    ];
    for (name, tokens) in counters {
        if let Some(tokens) = tokens {
            span.record(name, integer(tokens));
        }
    }
}
