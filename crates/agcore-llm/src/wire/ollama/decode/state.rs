//! [`State`]: what a decoder must remember from one line to the next.

use agcore_chat::{FinishReason, VendorData};
use serde::de::MapAccess;
use serde_json::Value;

use super::{said::Said, usage::Counts};
use crate::{
    delta::{Place, ReplyDelta, ReplyStart, SealedBlock},
    wire::{
        lenient::{says_nothing, skip},
        ollama::vendor::VENDOR,
    },
};

/// More members than any server sends; a bound on what is remembered.
const MOST_MEMBERS: usize = 64;

/// What was seen of a reply so far.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The window for which the model was loaded, as far as it is known.
    num_ctx: Option<u64>,
    pub(super) start: ReplyStart,
    is_started: bool,
    /// Members that were told; of each the first occurrence is kept.
    members: Vec<(Place, Box<str>)>,
    calls: u32,
    /// Whether reasoning was told that is not sealed yet.
    is_reasoning: bool,
}

impl State {
    pub(super) fn new(num_ctx: Option<u64>) -> Self {
        Self {
            num_ctx,
            ..Self::default()
        }
    }

    /// Forgets what was seen: it will be read again.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.num_ctx);
    }

    /// Whether any part of a reply was seen.
    pub(super) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Tells the start, once, and again when more is known.
    pub(super) fn tell_start(&mut self, has_news: bool, out: &mut Vec<ReplyDelta>) {
        if has_news || !self.is_started {
            self.is_started = true;
            out.push(ReplyDelta::Start(Box::new(self.start.clone())));
        }
    }

    /// Reads a member that has no place of its own, if it is to be kept.
    pub(super) fn member<'de, A: MapAccess<'de>>(
        &mut self,
        place: Place,
        name: &str,
        map: &mut A,
    ) -> Result<Option<(Box<str>, Value)>, A::Error> {
        let is_seen = || {
            self.members
                .iter()
                .any(|(seen, known)| *seen == place && **known == *name)
        };
        if self.members.len() >= MOST_MEMBERS || is_seen() {
            return skip(map).map(|()| None);
        }
        let value: Value = map.next_value()?;
        if says_nothing(&value) {
            return Ok(None);
        }
        self.members.push((place, name.into()));
        Ok(Some((name.into(), value)))
    }

    /// Tells what a message says. Thoughts come before the answer, and each call is whole and another one.
    pub(super) fn say(&mut self, said: Said, out: &mut Vec<ReplyDelta>) {
        let choice = 0;
        if let Some(text) = said.thinking {
            self.is_reasoning = true;
            out.push(ReplyDelta::Reasoning { choice, text });
        }
        if said.content.is_some() || !said.calls.is_empty() {
            self.seal(out);
        }
        out.extend(said.content.map(|text| ReplyDelta::Text { choice, text }));
        for mut fragment in said.calls {
            fragment.index = Some(self.calls);
            self.calls = self.calls.saturating_add(1);
            out.push(ReplyDelta::Call {
                choice,
                fragment: Box::new(fragment),
            });
        }
        tell_members(Place::Message(choice), said.members, out);
    }

    /// Says whose the reasoning is, as no other vendor shall see it.
    fn seal(&mut self, out: &mut Vec<ReplyDelta>) {
        if std::mem::take(&mut self.is_reasoning) {
            out.push(ReplyDelta::Seal {
                choice: 0,
                block: SealedBlock::Reasoning,
                vendor: Box::new(VendorData::new(VENDOR, Value::Null)),
            });
        }
    }

    /// The reply is done.
    pub(super) fn finish(&mut self, reason: Option<&str>, counts: &Counts, out: &mut Vec<ReplyDelta>) {
        if let (Some(window), Some(prompt)) = (self.num_ctx, counts.prompt())
            && prompt >= window
        {
            tracing::warn!(
                prompt_tokens = prompt,
                num_ctx = window,
                "the prompt fills the model's window; Ollama cuts a longer one without a word: raise num_ctx or shorten it"
            );
        }
        self.seal(out);
        counts.tell(out);
        out.push(ReplyDelta::Finish {
            choice: 0,
            // Older servers, and those that copy the API, give no reason.
            reason: reason.map_or(FinishReason::Stop, FinishReason::from),
        });
    }
}

/// Tells members that are kept for the response.
pub(super) fn tell_members(place: Place, members: Vec<(Box<str>, Value)>, out: &mut Vec<ReplyDelta>) {
    let told = members
        .into_iter()
        .map(|(name, value)| ReplyDelta::Member { place, name, value });
    out.extend(told);
}
