//! [`Seen`]: what a reply tells on its way, and when it is recorded.

use std::time::Duration;

use agcore_chat::Usage;
use tracing::Span;

use super::content;
use crate::{
    delta::{ReplyDelta, ReplyStart},
    error::LlmError,
    fold::Fold,
    reply::{Notice, ReplyItem},
};

/// What was seen of a reply so far.
pub(super) struct Seen {
    begun: bool,
    ended: bool,
    attempts: u32,
    finish: Vec<(u32, String)>,
    usage: Option<Box<Usage>>,
    /// The whole reply, where its content is recorded.
    fold: Option<Fold>,
}

impl Seen {
    pub(super) fn new(content: bool) -> Self {
        Self {
            begun: false,
            ended: false,
            attempts: 1,
            finish: Vec::new(),
            usage: None,
            fold: content.then(Fold::new),
        }
    }

    /// Looks at an item; `elapsed` is the time since the call was first polled.
    pub(super) fn take(&mut self, span: &Span, item: &ReplyItem, elapsed: impl FnOnce() -> Duration) {
        match item {
            ReplyItem::Delta(delta) => {
                if !std::mem::replace(&mut self.begun, true) {
                    span.record("gen_ai.response.time_to_first_chunk", elapsed().as_secs_f64());
                }
                self.delta(span, delta);
            }
            ReplyItem::Notice(notice) => self.notice(span, notice),
            ReplyItem::End(end) => self.end(span, end.as_ref().err()),
        }
    }

    fn delta(&mut self, span: &Span, delta: &ReplyDelta) {
        match delta {
            ReplyDelta::Start(start) => record_start(span, start),
            ReplyDelta::Usage(usage) => self.usage = Some(usage.clone()),
            ReplyDelta::Finish { choice, reason } if self.finish.iter().all(|(known, _)| known != choice) => {
                self.finish.push((*choice, reason.as_str().to_owned()));
            }
            _ => {}
        }
        if let Some(fold) = &mut self.fold {
            fold.push(delta);
        }
    }

    fn notice(&mut self, span: &Span, notice: &Notice) {
        match notice {
            Notice::RetryScheduled { fault, delay, .. } => {
                tracing::info!(fault = %fault.kind, ?delay, "the call failed and is made again");
                self.again();
            }
            Notice::Restarted { fault, .. } => {
                tracing::info!(fault = %fault.kind, "the reply was cut and begins anew");
                self.again();
            }
            Notice::AnsweredBy(who) => {
                let key = who.key.as_deref().map(|key| format!(" ({key})")).unwrap_or_default();
                span.record("agcore.answered_by", format!("{}:{}{key}", who.provider, who.model));
            }
            Notice::Waiting { limit, delay } => tracing::info!(%limit, ?delay, "the call waits for a limit"),
        }
        if let Some(fold) = &mut self.fold {
            fold.notice(notice);
        }
    }

    fn again(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
        self.finish.clear();
        self.usage = None;
    }

    fn end(&mut self, span: &Span, error: Option<&LlmError>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if let Some(error) = error {
            record_failure(span, &error.kind().fault_kind().to_string());
        }
        span.record("agcore.attempts", self.attempts);
        if !self.finish.is_empty() {
            self.finish.sort_by_key(|(choice, _)| *choice);
            let reasons: Vec<&str> = self.finish.iter().map(|(_, reason)| reason.as_str()).collect();
            span.record("gen_ai.response.finish_reasons", tracing::field::debug(reasons));
        }
        if let Some(usage) = &self.usage {
            record_usage(span, usage);
        }
        if let Some(fold) = self.fold.take() {
            content::record_reply(span, &fold.response());
        }
    }

    /// The reader went away. Before the end this is a cancelled call.
    pub(super) fn dropped(&mut self, span: &Span) {
        if !self.ended {
            self.end(span, None);
            record_failure(span, "cancelled");
        }
    }
}

fn record_failure(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

fn record_start(span: &Span, start: &ReplyStart) {
    if let Some(id) = &start.id {
        span.record("gen_ai.response.id", id.as_str());
    }
    if let Some(model) = &start.model {
        span.record("gen_ai.response.model", model.as_str());
    }
}

fn record_usage(span: &Span, usage: &Usage) {
    let counters = [
        ("gen_ai.usage.input_tokens", usage.prompt_tokens),
        ("gen_ai.usage.output_tokens", usage.completion_tokens),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached()),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write()),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning()),
    ];
    for (name, tokens) in counters {
        if let Some(tokens) = tokens {
            span.record(name, tokens);
        }
    }
}
