//! [`State`]: what a reader must remember from one event to the next.

use agcore_chat::{Block, FinishReason, Text};
use serde_json::{Map, Value};

use super::{
    super::vendor,
    body::ResponseBody,
    channel::Channel,
    event::WireEvent,
    item::Kind,
    items::{Items, Key},
    json::{list, object, type_of},
    parts::PartText,
    teller::{Teller, member},
    usage,
};
use crate::delta::{Place, ReplyDelta, ReplyStart};

/// What was seen of a reply so far.
#[derive(Debug, Default)]
pub(super) struct State {
    start: ReplyStart,
    /// Whether more is known of the start than was told.
    has_news: bool,
    is_started: bool,
    items: Items,
    teller: Teller,
    /// Where the last piece of text belongs: its item, its part, its channel.
    last_heard: Option<(usize, u64, Channel)>,
}

impl State {
    /// Puts a start before the deltas from `at` on, when there is none yet or more is known now.
    pub(super) fn tell_start(&mut self, at: usize, out: &mut Vec<ReplyDelta>) {
        if self.has_news || (!self.is_started && out.len() > at) {
            (self.is_started, self.has_news) = (true, false);
            out.insert(at, ReplyDelta::Start(Box::new(self.start.clone())));
        }
    }

    /// A response has begun.
    pub(super) fn begun(&mut self, body: &ResponseBody<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
        self.begin(body);
        tell_usage(body, out)
    }

    /// Notes what a response tells of itself. The service class is but the one asked for yet.
    pub(super) fn begin(&mut self, body: &ResponseBody<'_>) {
        let text = |text: &Option<Text>| text.as_ref().map(Text::to_string);
        self.has_news |= fill(&mut self.start.id, text(&body.id));
        self.has_news |= fill(&mut self.start.model, text(&body.model));
        self.has_news |= fill(&mut self.start.created, body.created);
    }

    /// A piece of text.
    pub(super) fn text(&mut self, channel: Channel, event: &WireEvent<'_>, out: &mut Vec<ReplyDelta>) {
        let at = self.items.of(Key::of(event), Kind::with(channel));
        self.items.at(at).parts.goes_on(event.part_index);
        self.say(at, event.part_index, channel, event.delta.0.clone(), out);
    }

    /// A piece of text that goes on where the last one ended, and was told already.
    pub(super) fn heard(&mut self, text: &str) {
        if let Some((at, part, channel)) = self.last_heard {
            self.items.at(at).hear(part, channel, text);
        }
    }

    /// The whole text of a part: what it adds to its pieces counts, as what was told cannot be taken back.
    pub(super) fn whole_text(
        &mut self,
        channel: Channel,
        event: &WireEvent<'_>,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<()> {
        let at = self.items.of(Key::of(event), Kind::with(channel));
        self.say_rest(at, event.part_index, channel, &event.whole_text()?, out);
        Ok(())
    }

    /// A piece of a call's input.
    pub(super) fn input(&mut self, custom: bool, event: &WireEvent<'_>, out: &mut Vec<ReplyDelta>) {
        let at = self.items.of(Key::of(event), Kind::Call);
        let item = self.items.at(at);
        if let Some(fragment) = item.call.piece(event.delta.0.clone()).filter(|_| !item.is_done) {
            self.teller.call(at, custom, fragment, out);
        }
    }

    /// The whole input of a call.
    pub(super) fn whole_input(
        &mut self,
        custom: bool,
        event: &WireEvent<'_>,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<()> {
        let at = self.items.of(Key::of(event), Kind::Call);
        let item = self.items.at(at);
        if let Some(fragment) = item.call.whole(&event.whole_text()?).filter(|_| !item.is_done) {
            self.teller.call(at, custom, fragment, out);
        }
        Ok(())
    }

    /// A part of a message or of reasoning begins, mostly without text yet. Some servers announce reasoning as a part of
    /// text.
    pub(super) fn part_added(&mut self, event: &WireEvent<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
        let Some(mut part) = object(event.part)? else {
            return Ok(());
        };
        let key = Key::of(event);
        if let Some(at) = self.items.named(key) {
            self.items.at(at).parts.announce(event.part_index);
        }
        if let Some((channel, text)) = Channel::read(&mut part).filter(|(_, text)| !text.is_empty()) {
            let at = self.items.of(key, Kind::with(channel));
            self.say(at, event.part_index, channel, text.into(), out);
        }
        Ok(())
    }

    /// A part of a message or of reasoning is whole.
    pub(super) fn part_done(&mut self, event: &WireEvent<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
        let Some(mut part) = object(event.part)? else {
            return Ok(());
        };
        if let Some((channel, text)) = Channel::read(&mut part) {
            let at = self.items.of(Key::of(event), Kind::with(channel));
            self.note(at, event.part_index, list(part.shift_remove("annotations")));
            self.say_rest(at, event.part_index, channel, &text, out);
        }
        Ok(())
    }

    /// A note on text.
    pub(super) fn annotation(&mut self, event: &WireEvent<'_>) -> serde_json::Result<()> {
        if let Some(raw) = event.annotation {
            let at = self.items.of(Key::of(event), Kind::Message);
            let annotations = self.items.at(at).parts.annotations(event.part_index);
            annotations.push(serde_json::from_str(raw.get())?);
        }
        Ok(())
    }

    /// An item begins. Of a call the id and name are told; everything else comes in pieces or at the end.
    pub(super) fn item_added(&mut self, event: &WireEvent<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
        if let Some(mut added) = object(event.item)? {
            let (at, custom) = self.place(event, &added, Items::begun);
            let item = self.items.at(at);
            if item.kind == Kind::Call {
                let fragment = item.call.begun(&mut added);
                self.teller.call(at, custom, fragment, out);
            }
        }
        Ok(())
    }

    /// An item is whole.
    pub(super) fn item_done(&mut self, event: &WireEvent<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
        if let Some(item) = object(event.item)? {
            let (at, custom) = self.place(event, &item, Items::of);
            self.whole_item(at, custom, item, out);
        }
        Ok(())
    }

    /// Reads the response at its end: items that did not come before, or not whole, then tokens and the rest.
    pub(super) fn end(&mut self, body: &ResponseBody<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
        self.begin(body);
        let tier = body.service_tier.as_ref().map(Text::to_string);
        self.has_news |= fill(&mut self.start.service_tier, tier);
        for (place, item) in body.output()?.into_iter().enumerate() {
            if let Value::Object(item) = item {
                let id = own_id(&item).unwrap_or_default();
                let at = self.items.last(place, id, Kind::of(type_of(&item)));
                self.whole_item(at, is_custom(&item), item, out);
            }
        }
        self.close_rest(out);
        tell_usage(body, out)?;
        for (name, value) in body.rest()?.iter() {
            out.push(member(Place::Response, name, value.clone()));
        }
        Ok(())
    }

    /// Tells why the answer ended.
    pub(super) fn finish(&mut self, reason: FinishReason, word: &str, out: &mut Vec<ReplyDelta>) {
        self.teller.finish(reason, word, out);
    }

    /// Tells what was noted on items whose end did not come.
    pub(super) fn close_rest(&mut self, out: &mut Vec<ReplyDelta>) {
        for item in self.items.unfinished() {
            self.teller.annotations(item.parts.take_annotations(), out);
        }
    }

    /// The place of an event's item, and whether it is a call of a custom tool.
    fn place(
        &mut self,
        event: &WireEvent<'_>,
        item: &Map<String, Value>,
        find: fn(&mut Items, Key<'_>, Kind) -> usize,
    ) -> (usize, bool) {
        let key = Key::of(event);
        let id = match key.id {
            "" => own_id(item).unwrap_or_default(),
            event => vendor::id(item).unwrap_or(event),
        };
        let at = find(&mut self.items, Key { id, ..key }, Kind::of(type_of(item)));
        (at, is_custom(item))
    }

    fn whole_item(&mut self, at: usize, custom: bool, item: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        let seen = self.items.at(at);
        if seen.is_done {
            return;
        }
        match seen.kind {
            Kind::Message => self.message(at, item, out),
            Kind::Reasoning => self.reasoning(at, item, out),
            Kind::Call => {
                let fragment = seen.call.done(item, &seen.id);
                self.teller.call(at, custom, fragment, out);
            }
            Kind::Hosted => self.teller.block(Block::Hosted(vendor::keep(item)), out),
        }
        self.items.at(at).is_done = true;
    }

    fn message(&mut self, at: usize, mut item: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        let (mut logprobs, mut is_refused) = (Vec::new(), false);
        let mut parts = numbered(item.shift_remove("content"));
        let mut texts = self.rests(at, &mut parts).into_iter().peekable();
        for (number, mut part) in parts {
            let Some(rest) = texts.next_if(|text| text.number == number) else {
                // The text before it is of the same item.
                self.teller
                    .seal_message(at, self.items.at(at), item.clone(), false, out);
                self.teller.block(Block::Other(Value::Object(part)), out);
                continue;
            };
            is_refused |= rest.channel == Channel::Refusal;
            logprobs.extend(list(part.shift_remove("logprobs")));
            self.note(at, number, list(part.shift_remove("annotations")));
            self.say(at, number, rest.channel, rest.text.into(), out);
        }
        let seen = self.items.at(at);
        self.teller.seal_message(at, seen, item, is_refused, out);
        self.teller.annotations(seen.parts.take_annotations(), out);
        self.teller.logprobs(logprobs, out);
    }

    fn reasoning(&mut self, at: usize, item: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        // Itself before its summary, as a server that tells both streams it.
        for name in ["content", "summary"] {
            let mut parts = numbered(item.get(name).cloned());
            for rest in self.rests(at, &mut parts) {
                self.say(at, rest.number, rest.channel, rest.text.into(), out);
            }
        }
        self.teller.seal_reasoning(at, item, out);
    }

    /// Notes what is known of a part's text.
    fn note(&mut self, at: usize, part: u64, annotations: Vec<Value>) {
        if !annotations.is_empty() {
            *self.items.at(at).parts.annotations(part) = annotations;
        }
    }

    /// What the texts of a whole item, taken out of its parts, add to what was told of it.
    fn rests(&mut self, at: usize, parts: &mut [(u64, Map<String, Value>)]) -> Vec<PartText> {
        let read = |(number, part): &mut (u64, Map<String, Value>)| {
            let (channel, text) = Channel::read(part)?;
            Some(PartText {
                number: *number,
                channel,
                text,
            })
        };
        let wholes = parts.iter_mut().filter_map(read).collect();
        self.items.at(at).parts.rests(wholes)
    }

    /// Says what a part's whole text adds to what was told of it.
    fn say_rest(&mut self, at: usize, part: u64, channel: Channel, whole: &str, out: &mut Vec<ReplyDelta>) {
        let rest = self.items.at(at).parts.rest(part, whole);
        self.say(at, part, channel, rest.into(), out);
    }

    fn say(&mut self, at: usize, part: u64, channel: Channel, text: Text, out: &mut Vec<ReplyDelta>) {
        let item = self.items.at(at);
        // A reasoning item holds reasoning and a message none of it, whatever the part says.
        if text.is_empty() || Kind::with(channel) != item.kind {
            return;
        }
        self.last_heard = Some((at, part, channel));
        if let Some(part) = item.hear(part, channel, &text) {
            self.teller.say(at, item, part, channel, text, out);
        }
    }
}

/// The parts of a list, with their numbers in it.
fn numbered(parts: Option<Value>) -> Vec<(u64, Map<String, Value>)> {
    let objects = (0..).zip(list(parts)).filter_map(|(number, part)| match part {
        Value::Object(part) => Some((number, part)),
        _ => None,
    });
    objects.collect()
}

/// Tells the tokens, as far as they are known.
fn tell_usage(body: &ResponseBody<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
    let usage = body.usage.map(usage::read).transpose()?.flatten();
    out.extend(usage.map(|usage| ReplyDelta::Usage(Box::new(usage))));
    Ok(())
}

/// The id that events name an item by. Calls without one of their own go by that of the call (llama.cpp of early 2026).
fn own_id(item: &Map<String, Value>) -> Option<&str> {
    let call_id = || item.get("call_id")?.as_str().filter(|id| !id.is_empty());
    vendor::id(item).or_else(call_id)
}

fn is_custom(item: &Map<String, Value>) -> bool {
    type_of(item) == "custom_tool_call"
}

/// Fills a gap; says whether there was one.
fn fill<T>(to: &mut Option<T>, from: Option<T>) -> bool {
    let is_new = to.is_none() && from.is_some();
    if is_new {
        *to = from;
    }
    is_new
}

#[cfg(test)]
mod tests {
    use super::{super::teller::CHOICE, *};

    #[test]
    fn a_start_is_told_once_and_again_when_more_is_known() {
        let (mut state, mut out) = (State::default(), Vec::new());
        state.tell_start(0, &mut out);
        assert!(out.is_empty(), "nothing is known and nothing was said");
        out.push(ReplyDelta::BlockEnd { choice: CHOICE });
        state.tell_start(0, &mut out);
        state.tell_start(0, &mut out);
        assert!(matches!(&out[..], [ReplyDelta::Start(_), _]), "{out:?}");
        let body = ResponseBody::read(br#"{"id": "r"}"#).unwrap();
        state.begin(&body);
        state.begin(&body);
        state.tell_start(2, &mut out);
        assert!(matches!(&out[2], ReplyDelta::Start(start) if start.id.as_deref() == Some("r")));
    }
}
