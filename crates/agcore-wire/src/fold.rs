//! [`Fold`]: assembles deltas into a [`ChatResponse`], the same way for streamed and whole replies.

pub(crate) mod calls;
pub(crate) mod citation;
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
    delta::{CallFragment, Place, ReplyDelta, ReplyStart, SealedBlock},
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
    start: Option<Box<ReplyStart>>,
    choices: Vec<ChoiceFold>,
    usage: Option<Box<Usage>>,
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
            ReplyDelta::Start(start) => self.start(start),
            ReplyDelta::Usage(usage) => self.usage = Some(usage),
            ReplyDelta::Block { choice, block } => self.choice(choice).block(*block),
            other => drop(self.push(&other)),
        }
    }

    /// Adds a delta. For a fragment of a tool call, returns the position of the call among the calls of its choice.
    pub fn push(&mut self, delta: &ReplyDelta) -> Option<usize> {
        match delta {
            ReplyDelta::Start(start) => self.start(start.clone()),
            ReplyDelta::Text { choice, text } => self.choice(*choice).text(text),
            ReplyDelta::Reasoning { choice, text } => self.choice(*choice).reasoning(text),
            ReplyDelta::Refusal { choice, text } => self.choice(*choice).refusal.push_str(text),
            ReplyDelta::Call { choice, fragment } => {
                return Some(self.choice(*choice).call(fragment));
            }
            ReplyDelta::Seal { choice, block, vendor } => self.choice(*choice).seal(*block, vendor),
            ReplyDelta::BlockEnd { choice } => self.choice(*choice).open = None,
            ReplyDelta::Item { choice, position } => self.choice(*choice).enter(*position),
            ReplyDelta::Move { choice, from, to } => self.choice(*choice).move_item(*from, *to),
            ReplyDelta::Block { choice, block } => self.choice(*choice).block((**block).clone()),
            ReplyDelta::Usage(usage) => self.usage = Some(usage.clone()),
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
        self.usage.as_deref()
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
        let Self {
            start,
            choices,
            usage,
            answered_by,
            extra,
        } = self;
        let folded = std::mem::take(choices).into_iter();
        let mut choices: Vec<Choice> = folded.map(ChoiceFold::finish).collect();
        choices.sort_by_key(|choice| choice.index);
        let start = start.take().map(|start| *start).unwrap_or_default();
        ChatResponse {
            id: start.id,
            created: start.created,
            model: start.model,
            choices,
            usage: usage.take().map(|usage| *usage),
            system_fingerprint: start.system_fingerprint,
            service_tier: start.service_tier,
            answered_by: answered_by.take(),
            metadata: start.metadata,
            extra: std::mem::take(extra),
        }
    }

    /// Fills in missing values. Known values are kept, because some servers change ids from chunk to chunk.
    fn start(&mut self, start: Box<ReplyStart>) {
        let Some(known) = &mut self.start else {
            self.start = Some(start);
            return;
        };
        let ReplyStart {
            id,
            model,
            created,
            system_fingerprint,
            service_tier,
            metadata,
        } = *start;
        fill(&mut known.id, id);
        fill(&mut known.model, model);
        fill(&mut known.created, created);
        fill(&mut known.system_fingerprint, system_fingerprint);
        fill(&mut known.service_tier, service_tier);
        fill(&mut known.metadata, metadata);
    }

    fn choice(&mut self, index: u32) -> &mut ChoiceFold {
        let at = self
            .choices
            .iter()
            .position(|choice| choice.index == index)
            .unwrap_or_else(|| {
                // Almost all replies have one choice.
                self.choices.reserve_exact(usize::from(self.choices.is_empty()));
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
    /// In the order of their arrival.
    pieces: Vec<Piece>,
    /// The position of the current item.
    item: u32,
    /// The piece that is appended to.
    open: Option<usize>,
    calls: Calls,
    refusal: String,
    finish: Option<FinishReason>,
    extra: Extra,
    message_extra: Extra,
}

/// A part of the message.
#[derive(Debug)]
struct Piece {
    /// The position of its item.
    item: u32,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Block(Block),
    /// The position among the calls.
    Call(usize),
}

impl ChoiceFold {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.refusal.is_empty()
    }

    /// Continues the item at this position.
    fn enter(&mut self, item: u32) {
        self.item = item;
        self.open = self.pieces.iter().rposition(|piece| piece.item == item);
    }

    /// Moves an item, and those between its positions by one.
    fn move_item(&mut self, from: u32, to: u32) {
        for piece in &mut self.pieces {
            let at = piece.item;
            if at == from {
                piece.item = to;
            } else if (from..=to).contains(&at) {
                piece.item = at - 1;
            } else if (to..=from).contains(&at) {
                piece.item = at + 1;
            }
        }
    }

    /// Returns the block that is appended to.
    fn open_block(&mut self) -> Option<&mut Block> {
        match &mut self.pieces.get_mut(self.open?)?.content {
            Content::Block(block) => Some(block),
            Content::Call(_) => None,
        }
    }

    /// Adds a block that is written piece by piece. Most replies have no other.
    fn begin(&mut self, block: Block) {
        self.pieces.reserve_exact(usize::from(self.pieces.is_empty()));
        self.push(self.item, Content::Block(block));
    }

    fn push(&mut self, item: u32, content: Content) {
        self.open = Some(self.pieces.len());
        self.pieces.push(Piece { item, content });
    }

    /// Adds a fragment of a call, and returns the position of the call. The order of calls is that of their arrival, so that
    /// their positions remain valid.
    fn call(&mut self, fragment: &CallFragment) -> usize {
        let (call, is_new) = self.calls.push(fragment);
        if is_new {
            let calls = self
                .pieces
                .iter()
                .filter(|piece| matches!(piece.content, Content::Call(_)));
            let last = calls.map(|piece| piece.item).max().unwrap_or_default();
            self.push(self.item.max(last), Content::Call(call));
        }
        self.open = None;
        call
    }

    fn block(&mut self, block: Block) {
        match self.open.take().and_then(|at| self.pieces.get_mut(at)) {
            Some(piece) if matches!(piece.content, Content::Call(_)) => piece.content = Content::Block(block),
            _ => self.push(self.item, Content::Block(block)),
        }
        self.open = None;
    }

    fn text(&mut self, more: &str) {
        match self.open_block() {
            Some(Block::Text(block)) => block.text.push_str(more),
            _ => self.begin(Block::text(more)),
        }
    }

    fn reasoning(&mut self, more: &str) {
        match self.open_block() {
            Some(Block::Reasoning(block)) => block.text.push_str(more),
            _ => self.begin(Block::reasoning(more)),
        }
    }

    fn seal(&mut self, kind: SealedBlock, vendor: &VendorData) {
        let vendor = Some(vendor.clone());
        match (kind, self.open_block()) {
            (SealedBlock::Reasoning, Some(Block::Reasoning(block))) => block.vendor = vendor,
            (SealedBlock::Text, Some(Block::Text(block))) => block.vendor = vendor,
            (SealedBlock::Reasoning, _) => {
                let text = String::new();
                self.push(self.item, Content::Block(Block::Reasoning(Reasoning { text, vendor })));
            }
            (SealedBlock::Text, _) => {
                let block = TextBlock {
                    vendor,
                    ..TextBlock::default()
                };
                self.push(self.item, Content::Block(Block::Text(block)));
            }
        }
        self.open = None;
    }

    fn finish(mut self) -> Choice {
        let mut calls = self.calls.finish();
        self.pieces.sort_by_key(|piece| piece.item);
        let block = |piece: Piece| match piece.content {
            Content::Block(block) => Some(block),
            Content::Call(at) => Some(std::mem::take(calls.get_mut(at)?).into()),
        };
        let blocks: Vec<Block> = self.pieces.into_iter().filter_map(block).collect();
        let has_calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
        let finish_reason = self.finish.map(|reason| correct_reason(reason, has_calls));
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
/// Sets a value that is not known yet.
fn fill<T>(known: &mut Option<T>, value: Option<T>) {
    if known.is_none() {
        *known = value;
    }
}
