//! [`Fold`]: deltas to one whole [`ChatResponse`], the same for streamed and whole replies.

mod calls;

use agcore_chat::{
    AnsweredBy, AssistantMessage, Block, ChatResponse, Choice, Extra, FinishReason, Marks, Reasoning, TextBlock, Usage,
    VendorData,
};
use serde_json::Value;

use self::calls::Calls;
use crate::{
    delta::{Place, ReplyDelta, ReplyStart, SealedBlock},
    error::LlmError,
    reply::{Notice, ReplyItem, cut},
};

/// Gathers the deltas of a reply.
///
/// ```
/// use agcore_llm::{delta::ReplyDelta, fold::Fold};
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
    /// An empty fold.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes an item of a stream; at its end gives the whole reply, or the error with what had arrived. A restart begins
    /// anew.
    pub fn absorb(&mut self, item: ReplyItem) -> Option<Result<ChatResponse, LlmError>> {
        match item {
            ReplyItem::Delta(delta) => {
                self.take_in(delta);
                None
            }
            ReplyItem::Notice(notice) => {
                self.notice(&notice);
                None
            }
            ReplyItem::End(Ok(())) => Some(Ok(self.take())),
            ReplyItem::End(Err(error)) => {
                let partial = self.has_content().then(|| self.take());
                Some(Err(error.with_partial(partial)))
            }
        }
    }

    /// Takes a notice: another attempt begins anew, who answers is noted.
    pub fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::RetryScheduled { .. } | Notice::Restarted { .. } => self.restart(),
            Notice::AnsweredBy(who) => self.answered_by = Some(who.clone()),
            Notice::Waiting { .. } => {}
        }
    }

    /// As [`push`](Self::push), of a delta that nobody else needs: the parts of it that are large move.
    pub(crate) fn take_in(&mut self, delta: ReplyDelta) {
        match delta {
            ReplyDelta::Start(start) => self.begin(*start),
            ReplyDelta::Usage(usage) => self.usage = Some(*usage),
            ReplyDelta::Block { choice, block } => self.choice(choice).block(*block),
            other => drop(self.push(&other)),
        }
    }

    /// Takes a delta. For a fragment of a tool call it gives the call's place among the calls of its choice.
    pub fn push(&mut self, delta: &ReplyDelta) -> Option<usize> {
        match delta {
            ReplyDelta::Start(start) => self.begin((**start).clone()),
            ReplyDelta::Text { choice, text } => self.choice(*choice).text(text),
            ReplyDelta::Reasoning { choice, text } => self.choice(*choice).reasoning(text),
            ReplyDelta::Refusal { choice, text } => self.choice(*choice).refusal.push_str(text),
            ReplyDelta::Call { choice, fragment } => {
                let choice = self.choice(*choice);
                choice.open = false;
                let (call, is_new) = choice.calls.push(fragment);
                if is_new {
                    choice.pieces.push(Piece::Call(call));
                }
                return Some(call);
            }
            ReplyDelta::Seal { choice, block, vendor } => self.choice(*choice).seal(*block, vendor),
            ReplyDelta::BlockEnd { choice } => self.choice(*choice).open = false,
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

    fn restart(&mut self) {
        *self = Self {
            answered_by: self.answered_by.take(),
            ..Self::new()
        };
    }

    /// The id and name of a choice's call as far as they are known.
    pub fn call(&self, choice: u32, call: usize) -> Option<(&str, &str)> {
        self.choices.iter().find(|fold| fold.index == choice)?.calls.get(call)
    }

    /// The tokens told so far.
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Whether any part of an answer has arrived.
    pub fn has_content(&self) -> bool {
        self.usage.is_some() || self.choices.iter().any(|choice| !choice.is_empty())
    }

    /// What has arrived so far, as a response.
    pub fn response(mut self) -> ChatResponse {
        self.take()
    }

    /// The stream ended without an end item.
    ///
    /// # Errors
    /// Always: `Truncated`, with what had arrived.
    pub fn cut(mut self) -> Result<ChatResponse, LlmError> {
        let partial = self.has_content().then(|| self.take());
        Err(cut().with_partial(partial))
    }

    fn take(&mut self) -> ChatResponse {
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
            extra: fold.extra,
        }
    }

    /// The first value of each member stands, later ones fill gaps: some servers change ids from chunk to chunk.
    fn begin(&mut self, start: ReplyStart) {
        let known = std::mem::take(&mut self.start);
        self.start = ReplyStart {
            id: known.id.or(start.id),
            model: known.model.or(start.model),
            created: known.created.or(start.created),
            system_fingerprint: known.system_fingerprint.or(start.system_fingerprint),
            service_tier: known.service_tier.or(start.service_tier),
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
        let into = match place {
            Place::Response => &mut self.extra,
            Place::Choice(index) => &mut self.choice(index).extra,
            Place::Message(index) => &mut self.choice(index).message_extra,
        };
        match into.remove(name) {
            None => into.insert(name, value.clone()),
            Some(before) => into.insert(name, joined(before, value)),
        };
    }
}

/// Arrays append, objects merge, an unknown gives way, anything else is replaced.
fn joined(before: Value, more: &Value) -> Value {
    match (before, more) {
        (Value::Array(mut before), Value::Array(more)) => {
            before.extend(more.iter().cloned());
            Value::Array(before)
        }
        (Value::Object(mut before), Value::Object(more)) => {
            for (name, value) in more {
                let merged = match before.shift_remove(name) {
                    Some(old) => joined(old, value),
                    None => value.clone(),
                };
                before.insert(name.clone(), merged);
            }
            Value::Object(before)
        }
        (before, Value::Null) => before,
        (_, more) => more.clone(),
    }
}

#[derive(Debug, Default)]
struct ChoiceFold {
    index: u32,
    pieces: Vec<Piece>,
    /// Whether the last piece takes more text.
    open: bool,
    calls: Calls,
    refusal: String,
    finish: Option<FinishReason>,
    extra: Extra,
    message_extra: Extra,
}

#[derive(Debug)]
enum Piece {
    Block(Block),
    /// Place among the calls.
    Call(usize),
}

impl ChoiceFold {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.refusal.is_empty()
    }

    fn block(&mut self, block: Block) {
        self.open = false;
        self.pieces.push(Piece::Block(block));
    }

    fn text(&mut self, more: &str) {
        if let (true, Some(Piece::Block(Block::Text(block)))) = (self.open, self.pieces.last_mut()) {
            block.text.push_str(more);
        } else {
            self.pieces.push(Piece::Block(Block::text(more)));
            self.open = true;
        }
    }

    fn reasoning(&mut self, more: &str) {
        if let (true, Some(Piece::Block(Block::Reasoning(block)))) = (self.open, self.pieces.last_mut()) {
            block.text.push_str(more);
        } else {
            self.pieces.push(Piece::Block(Block::reasoning(more)));
            self.open = true;
        }
    }

    fn seal(&mut self, kind: SealedBlock, vendor: &VendorData) {
        let last = self.pieces.last_mut().filter(|_| self.open);
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
        self.open = false;
    }

    fn finish(mut self) -> Choice {
        let mut calls = self.calls.finish();
        let block = |piece| match piece {
            Piece::Block(block) => Some(block),
            Piece::Call(at) => Some(std::mem::take(calls.get_mut(at)?).into()),
        };
        let blocks: Vec<Block> = self.pieces.into_iter().filter_map(block).collect();
        let finish_reason = self.finish.map(|reason| settled(reason, !calls.is_empty()));
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

/// Many servers say `stop` although the model called tools: the calls decide.
fn settled(reason: FinishReason, has_calls: bool) -> FinishReason {
    match reason {
        FinishReason::Stop | FinishReason::FunctionCall if has_calls => FinishReason::ToolCalls,
        FinishReason::Other(raw) if has_calls && raw.is_empty() => FinishReason::ToolCalls,
        reason => reason,
    }
}
