//! [`State`]: what the decoder keeps between events.

use std::borrow::Cow;

use agcore_chat::{Text, VendorData};
use serde_json::{Map, Value, json};

use super::{
    block::{Block, OpenBlock, OpenItem, OpenKind, Piece, Reasoning},
    call, finish,
    message::{Metadata, Reply},
};
use crate::{
    bedrock::vendor::{CHOICE, REDACTED, SIGNATURE},
    decode::{
        finish::{push_finish, push_missing_finish},
        lenient::is_blank,
        reply_decoder::no_answer,
    },
    delta::{Place, ReplyDelta, ReplyStart, SealedBlock},
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
};

/// The state of a reply.
#[derive(Debug)]
pub(super) struct State {
    vendor: Cow<'static, str>,
    start: ReplyStart,
    is_started: bool,
    /// Blocks that have not ended.
    open: Vec<OpenBlock>,
    /// The index of the block to which the fold appends text and reasoning.
    current: Option<u32>,
    has_content: bool,
    has_calls: bool,
    has_metadata: bool,
    is_stopped: bool,
}

impl State {
    /// `id` is the id of the request, which stands for that of the reply: the API has none.
    pub(super) fn new(vendor: Cow<'static, str>, id: Option<String>) -> Self {
        Self {
            vendor,
            start: ReplyStart {
                id,
                ..ReplyStart::default()
            },
            is_started: false,
            open: Vec::new(),
            current: None,
            has_content: false,
            has_calls: false,
            has_metadata: false,
            is_stopped: false,
        }
    }

    /// Returns whether the answer has ended.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Returns whether nothing more follows: metadata is the last thing after the end of the answer.
    pub(super) fn is_done(&self) -> bool {
        self.is_stopped && self.has_metadata
    }

    /// Emits the start, if it was not emitted yet.
    pub(super) fn ensure_start(&mut self, out: &mut Vec<ReplyDelta>) {
        if !std::mem::replace(&mut self.is_started, true) {
            out.push(ReplyDelta::Start(Box::new(self.start.clone())));
        }
    }

    /// Emits a whole reply.
    pub(super) fn push_reply(
        &mut self,
        reply: Reply,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), LlmError> {
        let content = reply.content.unwrap_or_default();
        if content.is_empty() && reply.stop_reason.is_none() && reply.metadata.usage.is_empty() {
            return Err(no_answer(failure));
        }
        for (index, block) in (0..).zip(content) {
            self.push_block(index, block, out);
            self.close(index, out);
        }
        self.push_metadata(reply.metadata, out);
        match reply.stop_reason {
            Some(reason) => self.stop(&reason, failure, out),
            None => {
                self.ensure_start(out);
                self.is_stopped = true;
                push_missing_finish(CHOICE, true, out);
                Ok(())
            }
        }
    }

    /// Begins a block, or emits a whole one, which is open until it is closed.
    pub(super) fn push_block(&mut self, index: u32, block: Block, out: &mut Vec<ReplyDelta>) {
        self.ensure_start(out);
        self.close(index, out);
        match block {
            Block::Text(text) => self.push_text(index, text, out),
            Block::Reasoning(reasoning) => self.push_reasoning(index, reasoning, out),
            Block::Call(call) => {
                self.switch_to(None, out);
                (self.has_content, self.has_calls) = (true, true);
                self.open.push(OpenBlock {
                    index,
                    kind: OpenKind::Call,
                });
                out.push(call.into_delta(index));
            }
            Block::Cited(cited) => {
                let texts = cited.get("content").and_then(Value::as_array);
                let texts = texts
                    .into_iter()
                    .flatten()
                    .filter_map(|part| part.get("text")?.as_str());
                let text: String = texts.collect();
                self.push_text(index, Some(text.as_str().into()), out);
                self.push_member("citations", cited.get("citations").cloned().unwrap_or_default(), out);
            }
            Block::Other(block) => {
                self.switch_to(None, out);
                self.has_content = true;
                let item = OpenItem::begin(block);
                self.open.extend(item.map(|item| OpenBlock {
                    index,
                    kind: OpenKind::Item(item),
                }));
            }
        }
    }

    /// Adds a piece to a block, which begins with it unless it is of a kind that has a start.
    pub(super) fn add(&mut self, index: u32, mut piece: Piece, out: &mut Vec<ReplyDelta>) {
        self.ensure_start(out);
        if let Some(citation) = piece.citation.take() {
            self.push_member("citations", json!([citation]), out);
        }
        match self
            .open
            .iter_mut()
            .find(|block| block.index == index)
            .map(|block| &mut block.kind)
        {
            Some(OpenKind::Item(item)) => return item.add(piece),
            Some(OpenKind::Call) => {
                let input = piece.input.filter(|input| !input.is_empty());
                out.extend(input.map(|input| call::piece(index, input)));
                return;
            }
            _ => {}
        }
        self.push_text(index, piece.text, out);
        self.push_reasoning(index, piece.reasoning, out);
        if let Some(input) = piece.input {
            // The start of the call is missing; the fold gives it an id.
            self.switch_to(None, out);
            self.has_calls = true;
            self.open.push(OpenBlock {
                index,
                kind: OpenKind::Call,
            });
            out.push(call::piece(index, input));
        }
        for (name, value) in piece.other {
            let block = Map::from_iter([(String::from(name), value)]);
            self.push_block(index, Block::Other(block), out);
        }
    }

    fn push_text(&mut self, index: u32, text: Option<Text>, out: &mut Vec<ReplyDelta>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.enter(index, OpenKind::Text, out);
            self.has_content = true;
            out.push(ReplyDelta::Text { choice: CHOICE, text });
        }
    }

    fn push_reasoning(&mut self, index: u32, reasoning: Reasoning, out: &mut Vec<ReplyDelta>) {
        let Reasoning {
            text,
            signature,
            redacted,
        } = reasoning;
        let signature = signature.filter(|signature| !signature.is_empty());
        if text.is_some() || signature.is_some() {
            self.enter(
                index,
                OpenKind::Reasoning {
                    signature: String::new(),
                },
                out,
            );
            out.extend(text.map(|text| ReplyDelta::Reasoning { choice: CHOICE, text }));
        }
        let open = self.open.iter_mut().find(|block| block.index == index);
        if let (Some(more), Some(OpenKind::Reasoning { signature })) = (signature, open.map(|block| &mut block.kind)) {
            signature.push_str(&more);
        }
        if let Some(data) = redacted {
            self.close(index, out);
            self.switch_to(None, out);
            self.seal(json!({ REDACTED: data.as_str() }), out);
        }
    }

    /// Makes a block of text or reasoning the one to which the fold appends, and begins it if necessary.
    fn enter(&mut self, index: u32, kind: OpenKind, out: &mut Vec<ReplyDelta>) {
        let is_same = |block: &OpenBlock| {
            block.index == index && std::mem::discriminant(&block.kind) == std::mem::discriminant(&kind)
        };
        if !self.open.iter().any(is_same) {
            self.close(index, out);
            self.open.push(OpenBlock { index, kind });
        }
        self.switch_to(Some(index), out);
    }

    /// Ends the block to which the fold appends, unless it is the one with this index.
    fn switch_to(&mut self, index: Option<u32>, out: &mut Vec<ReplyDelta>) {
        if self.current.is_some() && self.current != index {
            out.push(ReplyDelta::BlockEnd { choice: CHOICE });
        }
        self.current = index;
    }

    /// Ends a block, if it is open.
    pub(super) fn close(&mut self, index: u32, out: &mut Vec<ReplyDelta>) {
        let Some(at) = self.open.iter().position(|block| block.index == index) else {
            return;
        };
        match self.open.remove(at).kind {
            OpenKind::Text => self.switch_to(None, out),
            OpenKind::Call => {}
            OpenKind::Reasoning { signature } if signature.is_empty() => self.seal(Value::Null, out),
            OpenKind::Reasoning { signature } => self.seal(json!({ SIGNATURE: signature }), out),
            OpenKind::Item(item) => {
                let data = VendorData::new(&*self.vendor, item.finish());
                out.push(ReplyDelta::Block {
                    choice: CHOICE,
                    block: Box::new(agcore_chat::Block::Hosted(data)),
                });
            }
        }
    }

    /// Marks reasoning as the vendor's, with what must be sent back with it.
    fn seal(&mut self, data: Value, out: &mut Vec<ReplyDelta>) {
        self.has_content = true;
        self.current = None;
        out.push(ReplyDelta::Seal {
            choice: CHOICE,
            block: SealedBlock::Reasoning,
            vendor: Box::new(VendorData::new(&*self.vendor, data)),
        });
    }

    /// Ends all blocks. A signature may be incomplete if the reply ends early, and is left out then.
    pub(super) fn flush(&mut self, is_complete: bool, out: &mut Vec<ReplyDelta>) {
        while let Some(block) = self.open.first_mut() {
            if let OpenKind::Reasoning { signature } = &mut block.kind
                && !is_complete
            {
                signature.clear();
            }
            let index = block.index;
            self.close(index, out);
        }
    }

    /// Ends the answer. Fails if the vendor reports that the model wrote nothing that could be read.
    pub(super) fn stop(
        &mut self,
        reason: &str,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), LlmError> {
        self.ensure_start(out);
        self.flush(true, out);
        self.is_stopped = true;
        let is_unusable = match finish::is_malformed_call(reason) {
            true => !self.has_calls,
            false => finish::is_malformed(reason) && !self.has_content,
        };
        if is_unusable {
            let (kind, what) = match finish::is_malformed_call(reason) {
                true => (LlmErrorKind::InvalidToolCall, "an invalid tool call"),
                false => (LlmErrorKind::Server, "an invalid answer"),
            };
            let message = format!("the model wrote {what} ({reason}): try again");
            return Err(failure.annotate(LlmError::new(kind, message)));
        }
        push_finish(CHOICE, finish::reason(reason, self.has_calls), reason, out);
        Ok(())
    }

    /// Ends an answer without a stop reason.
    pub(super) fn stop_without_reason(&mut self, out: &mut Vec<ReplyDelta>) {
        self.flush(true, out);
        self.is_stopped = true;
        push_missing_finish(CHOICE, false, out);
    }

    /// Returns whether nothing was received yet.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_started
    }

    /// Emits the usage, and what else is known about a reply at its end.
    pub(super) fn push_metadata(&mut self, metadata: Metadata, out: &mut Vec<ReplyDelta>) {
        self.has_metadata = true;
        let has_news = metadata.service_tier.is_some() || metadata.model.is_some();
        self.start.service_tier = metadata.service_tier.or(self.start.service_tier.take());
        self.start.model = metadata.model.or(self.start.model.take());
        if has_news {
            self.is_started = false;
        }
        self.ensure_start(out);
        for (name, value) in metadata.members {
            self.push_response_member(&name, value, out);
        }
        let usage = metadata.usage.normalized();
        out.extend(usage.map(|usage| ReplyDelta::Usage(Box::new(usage))));
    }

    /// Emits a member of the reply without a delta of its own.
    pub(super) fn push_response_member(&self, name: &str, value: Value, out: &mut Vec<ReplyDelta>) {
        if !is_blank(&value) {
            let (place, name) = (Place::Response, name.into());
            out.push(ReplyDelta::Member { place, name, value });
        }
    }

    fn push_member(&self, name: &str, value: Value, out: &mut Vec<ReplyDelta>) {
        if !is_blank(&value) {
            let (place, name) = (Place::Choice(CHOICE), name.into());
            out.push(ReplyDelta::Member { place, name, value });
        }
    }
}
