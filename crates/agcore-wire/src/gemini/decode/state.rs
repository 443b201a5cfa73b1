//! [`State`]: what the decoder keeps between chunks.

use std::borrow::Cow;

use agcore_chat::FinishReason;
use serde_json::{Result, Value};

use super::{choice::ChoiceState, finish, members::Members, message::Candidate, usage::RawUsage};
use crate::{
    decode::{
        finish::{push_finish, push_missing_finish},
        json::JsonReader,
        reply_decoder::no_answer,
    },
    delta::{Place, ReplyDelta, ReplyStart},
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    gemini::vendor::CHOICE,
};

/// The state of a reply.
#[derive(Debug)]
pub(super) struct State {
    vendor: Cow<'static, str>,
    pub(super) start: ReplyStart,
    is_started: bool,
    choices: Vec<ChoiceState>,
    usage: RawUsage,
    /// Whether the usage has changed since it was emitted.
    has_new_usage: bool,
    is_usage_sent: bool,
    /// The reason for which the prompt was blocked.
    block_reason: Option<Box<str>>,
    /// Members of the reply without a delta of their own.
    pub(super) members: Members,
}

impl State {
    pub(super) fn new(vendor: Cow<'static, str>) -> Self {
        Self {
            vendor,
            start: ReplyStart::default(),
            is_started: false,
            choices: Vec::new(),
            usage: RawUsage::default(),
            has_new_usage: false,
            is_usage_sent: false,
            block_reason: None,
            members: Members::default(),
        }
    }

    /// Returns whether any part of a reply was read.
    pub(super) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Inserts a start at index `at`, if there was none yet or more is known now.
    pub(super) fn emit_start(&mut self, has_news: bool, at: usize, out: &mut Vec<ReplyDelta>) {
        if has_news || !self.is_started {
            self.is_started = true;
            out.insert(at, ReplyDelta::Start(Box::new(self.start.clone())));
        }
    }

    /// Reads token counts. Returns whether the start of the reply is more complete now.
    pub(super) fn update_usage(&mut self, json: &mut JsonReader<'_>) -> Result<bool> {
        self.has_new_usage |= self.usage.update(json)?;
        if self.start.service_tier.is_some() {
            return Ok(false);
        }
        self.start.service_tier = self.usage.service_tier().map(str::to_owned);
        Ok(self.start.service_tier.is_some())
    }

    /// Emits the usage when the length of the prompt is known, for replies that are cancelled. Later counts replace it at the
    /// end.
    pub(super) fn emit_first_usage(&mut self, out: &mut Vec<ReplyDelta>) {
        if !self.is_usage_sent && self.usage.has_prompt() {
            self.emit_usage(out);
        }
    }

    fn emit_usage(&mut self, out: &mut Vec<ReplyDelta>) {
        if std::mem::take(&mut self.has_new_usage) {
            self.is_usage_sent = true;
            out.extend(self.usage.normalized().map(|usage| ReplyDelta::Usage(Box::new(usage))));
        }
    }

    /// Notes the feedback about the prompt, which may have been blocked.
    pub(super) fn block(&mut self, feedback: &str) {
        let parsed: Value = serde_json::from_str(feedback).unwrap_or_default();
        let reason = match parsed.get("blockReason") {
            Some(Value::String(reason)) => Some(reason.as_str().into()),
            Some(Value::Number(reason)) => Some(reason.to_string().into()),
            _ => None,
        };
        self.block_reason = reason.or(self.block_reason.take());
        self.members.add("promptFeedback", feedback);
    }

    /// Emits an answer, or more of one. Returns a description of its fault, if it has one.
    pub(super) fn push_candidate(
        &mut self,
        candidate: Candidate<'_>,
        out: &mut Vec<ReplyDelta>,
    ) -> std::result::Result<(), String> {
        let choice = ChoiceState::entry(&mut self.choices, candidate.index);
        for (name, raw) in &candidate.members {
            choice.members.add(name, raw);
        }
        // A reason may come more than once, and content after it; only the last one counts.
        choice.finish = candidate.finish.or(choice.finish.take());
        let mut parts = candidate.parts.into_iter();
        parts.try_for_each(|part| choice.push(part, &self.vendor, out))
    }

    /// Returns whether the reply may end: whether the answer with index 0 has a finish reason, or all answers if there is none
    /// with that index, or whether the prompt was blocked.
    pub(super) fn is_finished(&self) -> bool {
        let is_finished = |choice: &ChoiceState| choice.finish.is_some();
        match self.choices.iter().find(|choice| choice.index == CHOICE) {
            Some(first) => is_finished(first),
            None if self.choices.is_empty() => self.block_reason.is_some(),
            None => self.choices.iter().all(is_finished),
        }
    }

    /// Ends the reply. Fails if there is no answer in it, or an invalid call instead of one.
    pub(super) fn complete(
        &mut self,
        is_whole: bool,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> std::result::Result<(), LlmError> {
        for choice in &mut self.choices {
            let is_cut = choice.reason().is_some_and(|reason| reason != FinishReason::Stop);
            choice.close(!is_cut, &self.vendor, out);
        }
        let unusable = self.unusable(failure);
        self.emit_rest(out);
        if let Some(error) = unusable {
            return Err(error);
        }
        for choice in &self.choices {
            match &choice.finish {
                Some(word) => {
                    let name = finish::name(word);
                    push_finish(choice.index, finish::reason(name), name, out);
                }
                None => push_missing_finish(choice.index, is_whole, out),
            }
        }
        if let Some(reason) = self.block_reason.as_deref().filter(|_| self.choices.is_empty()) {
            push_finish(CHOICE, FinishReason::ContentFilter, reason, out);
        }
        Ok(())
    }

    /// Returns the error of an answer that cannot be used.
    fn unusable(&self, failure: &FailureReader) -> Option<LlmError> {
        let Some(first) = self.choices.first() else {
            return self.block_reason.is_none().then(|| no_answer(failure));
        };
        let name = finish::name(first.finish.as_deref().unwrap_or("STOP"));
        if finish::is_invalid_call(name) && !first.has_calls() {
            let message = match first.members.text("finishMessage") {
                Some(message) => format!("{message} ({name})"),
                None => format!("the model wrote an invalid tool call ({name}): try again"),
            };
            return Some(failure.annotate(LlmError::new(LlmErrorKind::InvalidToolCall, message)));
        }
        // A known fault of several models: they stop before the first token.
        let is_empty = name == "STOP" && !first.has_content && self.usage.is_output_empty();
        is_empty.then(|| no_answer(failure))
    }

    /// Emits what was held back, when the reply ends early.
    pub(super) fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        for choice in &mut self.choices {
            choice.close(false, &self.vendor, out);
        }
        self.emit_rest(out);
    }

    fn emit_rest(&mut self, out: &mut Vec<ReplyDelta>) {
        for choice in &mut self.choices {
            choice.members.emit(Place::Choice(choice.index), out);
        }
        self.members.emit(Place::Response, out);
        self.emit_usage(out);
    }
}
