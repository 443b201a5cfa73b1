//! [`Fold`]: assembles deltas into a [`ChatResponse`], the same way for streamed and whole replies.

pub(crate) mod calls;
pub(crate) mod join;

use agcore_chat::{
    AnsweredBy, AssistantMessage, Block, ChatResponse, Choice, Extra, FinishReason, Marks, Reasoning, TextBlock, Usage,
    VendorData,
};
use serde_json::Value;

use self::{
    calls::Calls,
    join::{CONCATENATED, concatenate, join},
};
use crate::{
    delta::{Place, ReplyDelta, ReplyStart, SealedBlock},
    error::LlmError,
};

/// An accumulator that assembles the deltas of a reply into a [`ChatResponse`].
///
/// ```
/// use agcore_wire::{Fold, ReplyDelta};
///
/// let mut fold = Fold::new();
/// fold.push(&ReplyDelta::Text { choice: 0, text: "Hel".into() });
/// fold.push(&ReplyDelta::Text { choice: 0, text: "lo".into() });
/// assert_eq!(fold.response().text(), "Hello");
/// ```
#[derive(Debug, Default)]
pub struct Fold {
    start: ReplyStart,
    choices: Vec<ChoiceFold>,
    usage: Option<Usage>,
    answered_by: Option<AnsweredBy>,
    extra: Extra,
}

impl Fold {
    /// Creates an empty fold.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which provider sends the reply.
    pub fn set_answered_by(&mut self, answered_by: AnsweredBy) {
        self.answered_by = Some(answered_by);
    }

    /// Adds a delta like [`push`](Self::push), but moves its large parts instead of cloning them.
    pub fn push_owned(&mut self, delta: ReplyDelta) {
        match delta {
            ReplyDelta::Start(start) => self.start(*start),
            ReplyDelta::Usage(usage) => self.usage = Some(*usage),
            ReplyDelta::Block { choice, block } => self.choice(choice).block(*block),
            other => drop(self.push(&other)),
        }
    }

    /// Adds a delta. For a fragment of a tool call, returns the position of the call among the calls of its choice.
    pub fn push(&mut self, delta: &ReplyDelta) -> Option<usize> {
        match delta {
            ReplyDelta::Start(start) => self.start((**start).clone()),
            ReplyDelta::Text { choice, text } => self.choice(*choice).text(text),
            ReplyDelta::Reasoning { choice, text } => self.choice(*choice).reasoning(text),
            ReplyDelta::Refusal { choice, text } => self.choice(*choice).refusal.push_str(text),
            ReplyDelta::Call { choice, fragment } => {
                let choice = self.choice(*choice);
                choice.is_open = false;
                let (call, is_new) = choice.calls.push(fragment);
                if is_new {
                    choice.pieces.push(Piece::Call(call));
                }
                return Some(call);
            }
            ReplyDelta::Seal { choice, block, vendor } => self.choice(*choice).seal(*block, vendor),
            ReplyDelta::BlockEnd { choice } => self.choice(*choice).is_open = false,
            ReplyDelta::Block { choice, block } => self.choice(*choice).block((**block).clone()),
            ReplyDelta::Usage(usage) => self.usage = Some((**usage).clone()),
            ReplyDelta::Finish { choice, reason } => {
                self.choice(*choice).finish.get_or_insert_with(|| reason.clone());
            }
            ReplyDelta::Restart => self.restart(),
            ReplyDelta::Member { place, name, value } => self.member(*place, name, value),
        }
        None
    }

    /// Discards everything received so far, except which provider sends the reply. For another attempt.
    pub fn restart(&mut self) {
        *self = Self {
            answered_by: self.answered_by.take(),
            ..Self::new()
        };
    }

    /// Returns the id and name of a call of a choice. They are empty while unknown.
    pub fn call(&self, choice: u32, call: usize) -> Option<(&str, &str)> {
        self.choices.iter().find(|fold| fold.index == choice)?.calls.get(call)
    }

    /// Returns the token usage received so far.
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Returns whether any part of a reply has arrived.
    pub fn has_content(&self) -> bool {
        self.usage.is_some() || self.choices.iter().any(|choice| !choice.is_empty())
    }

    /// Returns what has arrived so far as a response.
    pub fn response(mut self) -> ChatResponse {
        self.take()
    }

    /// Attaches everything received so far to the error, as its partial reply, and leaves an empty fold.
    pub fn fail(&mut self, error: LlmError) -> LlmError {
        let partial = self.has_content().then(|| self.take());
        error.with_partial(partial)
    }

    /// Returns what has arrived so far as a response, and leaves an empty fold.
    pub fn take(&mut self) -> ChatResponse {
        let fold = std::mem::take(self);
        let mut choices: Vec<Choice> = fold.choices.into_iter().map(ChoiceFold::finish).collect();
        choices.sort_by_key(|choice| choice.index);
        ChatResponse {
            id: fold.start.id,
            created: fold.start.created,
            model: fold.start.model,
            choices,
            usage: fold.usage,
            system_fingerprint: fold.start.system_fingerprint,
            service_tier: fold.start.service_tier,
            answered_by: fold.answered_by,
            metadata: fold.start.metadata,
            extra: fold.extra,
        }
    }

    /// Fills in what is missing. Known values are kept, because some servers change ids from chunk to chunk.
    fn start(&mut self, start: ReplyStart) {
        let known = std::mem::take(&mut self.start);
        self.start = ReplyStart {
            id: known.id.or(start.id),
            model: known.model.or(start.model),
            created: known.created.or(start.created),
            system_fingerprint: known.system_fingerprint.or(start.system_fingerprint),
            service_tier: known.service_tier.or(start.service_tier),
            metadata: known.metadata.or(start.metadata),
        };
    }

    fn choice(&mut self, index: u32) -> &mut ChoiceFold {
        let at = self
            .choices
            .iter()
            .position(|choice| choice.index == index)
            .unwrap_or_else(|| {
                self.choices.push(ChoiceFold {
                    index,
                    ..ChoiceFold::default()
                });
                self.choices.len() - 1
            });
        &mut self.choices[at]
    }

    fn member(&mut self, place: Place, name: &str, value: &Value) {
        let members = match place {
            Place::Response => &mut self.extra,
            Place::Choice(index) => &mut self.choice(index).extra,
            Place::Message(index) => &mut self.choice(index).message_extra,
        };
        let value = match members.remove(name) {
            None => value.clone(),
            Some(mut before) => {
                let add = if CONCATENATED.contains(&name) {
                    concatenate
                } else {
                    join
                };
                add(&mut before, value);
                before
            }
        };
        members.insert(name, value);
    }
}

#[derive(Debug, Default)]
struct ChoiceFold {
    index: u32,
    pieces: Vec<Piece>,
    /// Whether text is appended to the last piece.
    is_open: bool,
    calls: Calls,
    refusal: String,
    finish: Option<FinishReason>,
    extra: Extra,
    message_extra: Extra,
}

#[derive(Debug)]
enum Piece {
    Block(Block),
    /// The position among the calls.
    Call(usize),
}

impl ChoiceFold {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.refusal.is_empty()
    }

    fn block(&mut self, block: Block) {
        self.is_open = false;
        self.pieces.push(Piece::Block(block));
    }

    fn text(&mut self, more: &str) {
        if let (true, Some(Piece::Block(Block::Text(block)))) = (self.is_open, self.pieces.last_mut()) {
            block.text.push_str(more);
        } else {
            self.pieces.push(Piece::Block(Block::text(more)));
            self.is_open = true;
        }
    }

    fn reasoning(&mut self, more: &str) {
        if let (true, Some(Piece::Block(Block::Reasoning(block)))) = (self.is_open, self.pieces.last_mut()) {
            block.text.push_str(more);
        } else {
            self.pieces.push(Piece::Block(Block::reasoning(more)));
            self.is_open = true;
        }
    }

    fn seal(&mut self, kind: SealedBlock, vendor: &VendorData) {
        let last = self.pieces.last_mut().filter(|_| self.is_open);
        match (kind, last) {
            (SealedBlock::Reasoning, Some(Piece::Block(Block::Reasoning(block)))) => {
                block.vendor = Some(vendor.clone());
            }
            (SealedBlock::Text, Some(Piece::Block(Block::Text(block)))) => block.vendor = Some(vendor.clone()),
            (SealedBlock::Reasoning, _) => {
                let block = Reasoning {
                    text: String::new(),
                    vendor: Some(vendor.clone()),
                };
                self.pieces.push(Piece::Block(Block::Reasoning(block)));
            }
            (SealedBlock::Text, _) => {
                let block = TextBlock {
                    vendor: Some(vendor.clone()),
                    ..TextBlock::default()
                };
                self.pieces.push(Piece::Block(Block::Text(block)));
            }
        }
        self.is_open = false;
    }

    fn finish(mut self) -> Choice {
        let mut calls = self.calls.finish();
        let block = |piece| match piece {
            Piece::Block(block) => Some(block),
            Piece::Call(at) => Some(std::mem::take(calls.get_mut(at)?).into()),
        };
        let blocks: Vec<Block> = self.pieces.into_iter().filter_map(block).collect();
        let finish_reason = self.finish.map(|reason| correct_reason(reason, !calls.is_empty()));
        let message = AssistantMessage {
            blocks,
            refusal: (!self.refusal.is_empty()).then_some(self.refusal),
            name: self
                .message_extra
                .remove("name")
                .and_then(|name| name.as_str().map(str::to_owned)),
            function_call: self
                .message_extra
                .remove("function_call")
                .and_then(|call| serde_json::from_value(call).ok()),
            audio: self.message_extra.remove("audio"),
            annotations: self.message_extra.remove("annotations"),
            marks: Marks::default(),
            extra: self.message_extra,
        };
        let logprobs = self.extra.remove("logprobs");
        Choice {
            index: self.index,
            message,
            finish_reason,
            logprobs,
            extra: self.extra,
        }
    }
}

/// Corrects the reason of a reply with tool calls: many servers send `stop`.
fn correct_reason(reason: FinishReason, has_calls: bool) -> FinishReason {
    match reason {
        FinishReason::Stop | FinishReason::FunctionCall if has_calls => FinishReason::ToolCalls,
        FinishReason::Other(raw) if has_calls && raw.is_empty() => FinishReason::ToolCalls,
        reason => reason,
    }
}
