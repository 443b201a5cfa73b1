//! [`ChoiceState`]: one answer so far, and the deltas of its parts.

use agcore_chat::{Block, FinishReason, Text, VendorData};
use serde_json::{Map, Value};

use super::{
    call::{CallPart, NO_ARGUMENTS},
    finish,
    members::Members,
    message::Part,
    partial_args::PartialArguments,
};
use crate::{
    delta::{CallFragment, ReplyDelta, SealedBlock},
    gemini::vendor::{ID, THOUGHT},
};

/// An answer so far.
#[derive(Debug, Default)]
pub(super) struct ChoiceState {
    pub(super) index: u32,
    /// The last finish reason, in the vendor's words.
    pub(super) finish: Option<Text>,
    /// Whether there is any content other than signatures and drafts.
    pub(super) has_content: bool,
    /// Members of the candidate without a delta of their own.
    pub(super) members: Members,
    open: Open,
    /// The number of calls.
    calls: u32,
    /// A call that is streamed value by value.
    partial: Option<PartialCall>,
}

/// The block that the fold appends to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    #[default]
    None,
    Text,
    Reasoning,
}

#[derive(Debug)]
struct PartialCall {
    arguments: PartialArguments,
    /// The id and the signature.
    data: Map<String, Value>,
}

impl ChoiceState {
    /// Returns the choice with this index, and creates it if necessary.
    pub(super) fn entry(choices: &mut Vec<Self>, index: u32) -> &mut Self {
        let at = choices.iter().position(|choice| choice.index == index);
        let at = at.unwrap_or_else(|| {
            choices.push(Self {
                index,
                ..Self::default()
            });
            choices.len() - 1
        });
        &mut choices[at]
    }

    /// Returns the finish reason so far.
    pub(super) fn reason(&self) -> Option<FinishReason> {
        self.finish.as_deref().map(|word| finish::reason(finish::name(word)))
    }

    pub(super) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Emits a part. Returns a description of its fault, if it has one.
    pub(super) fn push(&mut self, part: Part<'_>, vendor: &str, out: &mut Vec<ReplyDelta>) -> Result<(), String> {
        if let Some(call) = part.call {
            return self.push_call(*call, part.members, vendor, out);
        }
        if part.is_item() {
            self.end_call(true, vendor, out);
            self.push_item(part, vendor, out);
            return Ok(());
        }
        let text = part.text.filter(|text| !text.is_empty());
        if text.is_none() && part.members.is_empty() {
            return Ok(());
        }
        self.end_call(true, vendor, out);
        if part.is_thought {
            self.push_thought(text, part.members, vendor, out);
        } else {
            self.push_text(text, part.members, vendor, out);
        }
        Ok(())
    }

    /// Emits text. A part with a signature is a block of its own, because it must be sent back as it came.
    fn push_text(&mut self, text: Option<Text>, data: Map<String, Value>, vendor: &str, out: &mut Vec<ReplyDelta>) {
        let choice = self.index;
        self.close_thought(vendor, out);
        if !data.is_empty() && self.open == Open::Text {
            out.push(ReplyDelta::BlockEnd { choice });
        }
        self.open = Open::Text;
        if let Some(text) = text {
            self.has_content = true;
            out.push(ReplyDelta::Text { choice, text });
        }
        if !data.is_empty() {
            self.seal(SealedBlock::Text, data, vendor, out);
        }
    }

    fn push_thought(&mut self, text: Option<Text>, data: Map<String, Value>, vendor: &str, out: &mut Vec<ReplyDelta>) {
        let choice = self.index;
        if !data.is_empty() {
            self.close_thought(vendor, out);
        }
        if let Some(text) = text {
            (self.open, self.has_content) = (Open::Reasoning, true);
            out.push(ReplyDelta::Reasoning { choice, text });
        }
        if !data.is_empty() {
            self.seal(SealedBlock::Reasoning, data, vendor, out);
        }
    }

    /// Marks thoughts with their vendor, so that no other vendor receives them.
    fn close_thought(&mut self, vendor: &str, out: &mut Vec<ReplyDelta>) {
        if self.open == Open::Reasoning {
            self.seal(SealedBlock::Reasoning, Value::Null, vendor, out);
        }
    }

    fn seal(&mut self, block: SealedBlock, data: impl Into<Value>, vendor: &str, out: &mut Vec<ReplyDelta>) {
        self.open = Open::None;
        out.push(ReplyDelta::Seal {
            choice: self.index,
            block,
            vendor: Box::new(VendorData::new(vendor, data)),
        });
    }

    /// Emits an item of the vendor: a whole part, kept unchanged.
    fn push_item(&mut self, part: Part<'_>, vendor: &str, out: &mut Vec<ReplyDelta>) {
        self.close_thought(vendor, out);
        self.open = Open::None;
        let mut data = part.members;
        if part.is_thought {
            data.insert(THOUGHT.to_owned(), true.into());
        } else {
            self.has_content = true;
        }
        out.push(ReplyDelta::Block {
            choice: self.index,
            block: Box::new(Block::Hosted(VendorData::new(vendor, data))),
        });
    }

    /// Emits a call, which is usually whole.
    fn push_call(
        &mut self,
        call: CallPart,
        mut data: Map<String, Value>,
        vendor: &str,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), String> {
        let continues = self.partial.is_some() && call.name.is_none();
        if !continues {
            if call.is_empty() && data.is_empty() {
                return Ok(());
            }
            if let Some(id) = &call.id {
                data.insert(ID.to_owned(), id.as_str().into());
            }
            self.end_call(true, vendor, out);
            self.close_thought(vendor, out);
            (self.open, self.has_content) = (Open::None, true);
            self.calls = self.calls.saturating_add(1);
            if !call.is_piece() {
                let input = call.arguments.unwrap_or_else(|| NO_ARGUMENTS.into());
                self.push_fragment(call.id, call.name, Some((input, data)), vendor, out);
                return Ok(());
            }
            self.push_fragment(call.id, call.name, None, vendor, out);
        }
        let partial = self.partial.get_or_insert_with(|| PartialCall {
            arguments: PartialArguments::new(),
            data: Map::new(),
        });
        partial.data.extend(data);
        let is_last = !call.will_continue;
        for argument in call.partial {
            partial.arguments.apply(argument)?;
        }
        if is_last {
            self.end_call(true, vendor, out);
        }
        Ok(())
    }

    /// Ends a call that is streamed value by value.
    fn end_call(&mut self, is_complete: bool, vendor: &str, out: &mut Vec<ReplyDelta>) {
        if let Some(partial) = self.partial.take() {
            let input = partial.arguments.text(is_complete);
            self.push_fragment(None, None, Some((input.into(), partial.data)), vendor, out);
        }
    }

    /// Emits a fragment of the latest call: its id and name, or the whole arguments with the data of the vendor, or both.
    fn push_fragment(
        &self,
        id: Option<Text>,
        name: Option<Text>,
        input: Option<(Text, Map<String, Value>)>,
        vendor: &str,
        out: &mut Vec<ReplyDelta>,
    ) {
        let (input, data) = input.map_or((None, Map::new()), |(input, data)| (Some(input), data));
        out.push(ReplyDelta::Call {
            choice: self.index,
            fragment: Box::new(CallFragment {
                index: Some(self.calls.saturating_sub(1)),
                id,
                name,
                whole_input: input.is_some(),
                input,
                vendor: (!data.is_empty()).then(|| VendorData::new(vendor, data)),
                ..CallFragment::default()
            }),
        });
    }

    /// Closes the open thought and call at the end of the answer.
    pub(super) fn close(&mut self, is_complete: bool, vendor: &str, out: &mut Vec<ReplyDelta>) {
        self.end_call(is_complete, vendor, out);
        self.close_thought(vendor, out);
    }
}
