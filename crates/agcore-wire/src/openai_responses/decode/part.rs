//! [`Parts`]: what was emitted of the texts of an item, so that nothing is emitted twice.
//!
//! Pieces and whole texts refer to their part by a number that is not reliable: vLLM increments it with every piece, and
//! sends the whole text under another number. So whole texts are compared with what was emitted, and numbers matter only
//! if the texts differ.

use agcore_chat::Text;
use serde_json::{Map, Value};

use super::json::{take_text, type_of};

/// The kind of text within an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    /// Visible text.
    Text,
    /// A refusal.
    Refusal,
    /// A summary of reasoning.
    Summary,
    /// The reasoning itself, of open models.
    Reasoning,
}

impl Channel {
    pub(super) const ALL: [Self; 4] = [Self::Text, Self::Refusal, Self::Summary, Self::Reasoning];

    /// Returns the channel of an event that contains a piece of text, by its name without the prefix `response.`.
    pub(super) fn from_delta_event(topic: &str) -> Option<Self> {
        Some(match topic {
            "output_text.delta" => Self::Text,
            "refusal.delta" => Self::Refusal,
            "reasoning_summary_text.delta" => Self::Summary,
            "reasoning_text.delta" => Self::Reasoning,
            _ => return None,
        })
    }

    /// Returns the channel of text in a part of a reasoning item, if it is one: visible text there is reasoning.
    pub(super) fn within(self, is_reasoning: bool) -> Self {
        match self {
            Self::Text if is_reasoning => Self::Reasoning,
            channel => channel,
        }
    }

    /// Removes the text from a part and returns it with its channel; `None` if the part is of an unknown type.
    pub(super) fn take_text(part: &mut Map<String, Value>) -> Option<(Self, String)> {
        let (channel, member) = match type_of(part) {
            "output_text" | "text" => (Self::Text, "text"),
            "refusal" => (Self::Refusal, "refusal"),
            "summary_text" => (Self::Summary, "text"),
            "reasoning_text" => (Self::Reasoning, "text"),
            _ => return None,
        };
        Some((channel, take_text(part, member)))
    }
}

/// The parts of the content or the summary of an item, in the order of their appearance.
#[derive(Debug, Default)]
pub(super) struct Parts {
    all: Vec<Part>,
    /// The position of the part that was announced last.
    announced: Option<usize>,
}

/// A part of an item.
#[derive(Debug, Default)]
struct Part {
    number: u64,
    /// The highest number of its pieces.
    last_number: u64,
    channel: Option<Channel>,
    /// The text that was emitted.
    emitted: String,
    /// If its start contained text, which the pieces may repeat: how many bytes of the text they have repeated so far.
    repeated: Option<usize>,
    /// Whether its whole text was received.
    is_whole: bool,
    annotations: Vec<Value>,
}

/// The text of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartText {
    pub(super) number: u64,
    pub(super) channel: Channel,
    pub(super) text: String,
}

impl Parts {
    /// Starts a part.
    pub(super) fn announce(&mut self, number: u64) {
        let known = self.all.iter().position(|part| part.number == number);
        self.announced = Some(known.unwrap_or_else(|| self.open(number)));
    }

    /// Assigns a piece with an unknown number to the part that was announced last, if parts are announced at all.
    pub(super) fn continue_announced(&mut self, number: u64) {
        if let Some(at) = self.announced.filter(|_| self.find(number).is_none()) {
            let part = &mut self.all[at];
            part.last_number = part.last_number.max(number);
        }
    }

    /// Expects the pieces of a part to repeat its text, which its start contained.
    pub(super) fn expect_repetition(&mut self, number: u64, start: &str) {
        let part = self.part(number);
        part.repeated = (part.emitted == start).then_some(0);
    }

    /// Returns what a piece adds to the text that the start of its part contained. Some servers repeat that text in pieces,
    /// others only continue it.
    pub(super) fn without_repetition(&mut self, number: u64, piece: Text) -> Text {
        let part = match self.find(number) {
            Some(at) => &mut self.all[at],
            None => return piece,
        };
        let Some(repeated) = part.repeated.filter(|_| !piece.is_empty()) else {
            return piece;
        };
        let (before, rest) = part.emitted.split_at(repeated);
        if rest.starts_with(&*piece) {
            part.repeated = Some(repeated + piece.len());
            return Text::EMPTY;
        }
        part.repeated = None;
        match piece.strip_prefix(rest) {
            Some("") => Text::EMPTY,
            Some(more) => more.into(),
            // The pieces continue the text, although they began like it.
            None => format!("{before}{piece}").into(),
        }
    }

    /// Records text that is emitted. Returns the number under which the part is known.
    pub(super) fn record(&mut self, number: u64, channel: Channel, text: &str) -> u64 {
        let part = self.part(number);
        part.channel = Some(channel);
        part.emitted.push_str(text);
        part.number
    }

    /// Returns what the whole text of a part adds to its pieces. If there are pieces under other numbers whose whole text is
    /// still missing, this may be it, so nothing is returned until the end of the item.
    pub(super) fn remainder<'a>(&mut self, number: u64, whole: &'a str) -> &'a str {
        self.part(number).is_whole = true;
        if self.all.iter().any(|part| !part.is_whole && !part.emitted.is_empty()) {
            return "";
        }
        whole.strip_prefix(&*self.part(number).emitted).unwrap_or_default()
    }

    /// Returns what the whole texts of an item add to what was emitted. Emitted text that differs cannot be taken back.
    pub(super) fn remainders(&self, mut wholes: Vec<PartText>) -> Vec<PartText> {
        let last = wholes.last().map(|whole| whole.number);
        for channel in Channel::ALL {
            let mut same: Vec<&mut PartText> = wholes.iter_mut().filter(|whole| whole.channel == channel).collect();
            let emitted: String = self.in_channel(channel).map(|part| &*part.emitted).collect();
            let whole: String = same.iter().map(|whole| &*whole.text).collect();
            if !whole.starts_with(&emitted) {
                same.retain(|whole| self.may_be_emitted(channel, whole.number, last));
                same.into_iter().for_each(|whole| whole.text.clear());
                continue;
            }
            let mut left = emitted.len();
            for whole in same {
                let known = whole.text.len().min(left);
                whole.text.drain(..known);
                left -= known;
            }
        }
        wholes
    }

    /// Returns the annotations of a part.
    pub(super) fn annotations(&mut self, number: u64) -> &mut Vec<Value> {
        &mut self.part(number).annotations
    }

    /// Removes and returns the annotations of all parts.
    pub(super) fn take_annotations(&mut self) -> Vec<Value> {
        let parts = self.all.iter_mut();
        parts.flat_map(|part| std::mem::take(&mut part.annotations)).collect()
    }

    /// Returns whether text was emitted under this number, or under one that the item does not have, so that numbers are
    /// meaningless.
    fn may_be_emitted(&self, channel: Channel, number: u64, last: Option<u64>) -> bool {
        self.in_channel(channel)
            .any(|part| part.covers(number) || Some(part.number) > last)
    }

    /// Returns the parts whose text was emitted in a channel.
    fn in_channel(&self, channel: Channel) -> impl Iterator<Item = &Part> {
        self.all.iter().filter(move |part| part.channel == Some(channel))
    }

    fn part(&mut self, number: u64) -> &mut Part {
        let at = self.find(number).unwrap_or_else(|| self.open(number));
        &mut self.all[at]
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.all.iter().rposition(|part| part.covers(number))
    }

    fn open(&mut self, number: u64) -> usize {
        self.all.push(Part {
            number,
            last_number: number,
            ..Part::default()
        });
        self.all.len() - 1
    }
}

impl Part {
    fn covers(&self, number: u64) -> bool {
        (self.number..=self.last_number).contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Channel = Channel::Text;

    /// Returns parts after these pieces were emitted.
    fn emitted(pieces: &[(u64, &str)]) -> Parts {
        let mut parts = Parts::default();
        for (number, text) in pieces {
            parts.continue_announced(*number);
            parts.record(*number, TEXT, text);
        }
        parts
    }

    #[track_caller]
    fn check_whole(pieces: &[(u64, &str)], number: u64, whole: &str, expected: &str) {
        assert_eq!(emitted(pieces).remainder(number, whole), expected, "{pieces:?}");
    }

    #[test]
    fn a_whole_text_completes_its_pieces() {
        check_whole(&[], 0, "Hello", "Hello");
        check_whole(&[(0, "Hel"), (0, "lo")], 0, "Hello", "");
        check_whole(&[(0, "Hel")], 0, "Hello", "lo");
        check_whole(&[(0, "Hel")], 0, "Goodbye", "");
        check_whole(&[(0, "Hel")], 0, "", "");
    }

    #[test]
    fn a_whole_text_may_belong_to_pieces_under_other_numbers() {
        check_whole(&[(0, "Hel"), (1, "lo")], 0, "Hello", "");
        check_whole(&[(2, "Hel"), (3, "lo")], 0, "Hello", "");
        let mut parts = emitted(&[(0, "One")]);
        assert_eq!(parts.remainder(0, "One"), "");
        assert_eq!(parts.remainder(1, "One, too"), "One, too", "the first part is whole");
    }

    #[test]
    fn pieces_with_unknown_numbers_continue_the_announced_part() {
        let mut parts = Parts::default();
        parts.announce(4);
        for (number, text) in [(5, "Hel"), (6, "lo")] {
            parts.continue_announced(number);
            assert_eq!(parts.record(number, TEXT, text), 4);
        }
        assert_eq!(parts.remainder(6, "Hello!"), "!");
        parts.announce(6);
        parts.continue_announced(6);
        assert_eq!(parts.record(6, TEXT, "Next"), 6, "this part was announced");
    }

    #[test]
    fn pieces_may_repeat_the_text_of_the_start() {
        let check = |start: &str, pieces: &[&str], expected: &str| {
            let mut parts = emitted(&[(0, start)]);
            parts.expect_repetition(0, start);
            for piece in pieces {
                let added = parts.without_repetition(0, (*piece).into());
                parts.record(0, TEXT, &added);
            }
            assert_eq!(parts.part(0).emitted, expected, "{start} {pieces:?}");
        };
        check("Hello", &["Hel", "lo"], "Hello");
        check("Hel", &["lo"], "Hello");
        check("Hel", &["Hel", "lo"], "Hello");
        check("Hel", &["Hello", "!"], "Hello!");
        check("Hello", &["Hello", " Hello"], "Hello Hello");
        check("Hel", &["H", "i"], "HelHi");
        check("Hel", &["He", "", "y"], "HelHey");
    }

    #[track_caller]
    fn check_item(pieces: &[(u64, &str)], wholes: &[&str], expected: &[&str]) {
        let texts = (0..).zip(wholes).map(|(number, text)| PartText {
            number,
            channel: TEXT,
            text: (*text).to_owned(),
        });
        let added = emitted(pieces).remainders(texts.collect());
        let added: Vec<&str> = added.iter().map(|part| &*part.text).collect();
        assert_eq!(added, expected, "{pieces:?}");
    }

    #[test]
    fn a_whole_item_completes_what_was_emitted() {
        check_item(&[], &["One", "Two"], &["One", "Two"]);
        check_item(&[(0, "One")], &["One", "Two"], &["", "Two"]);
        check_item(&[(0, "One"), (1, "T")], &["One", "Two"], &["", "wo"]);
        check_item(&[(0, "On"), (1, "eTw")], &["One", "Two"], &["", "o"]);
        check_item(&[(7, "One"), (8, "Two")], &["OneTwo", "Three"], &["", "Three"]);
    }

    #[test]
    fn numbers_matter_if_texts_differ() {
        check_item(&[(1, "Two")], &["One", "Two"], &["One", ""]);
        check_item(&[(0, "Uno")], &["One", "Two"], &["", "Two"]);
        check_item(&[(7, " One"), (8, "Two")], &["OneTwo"], &[""]);
    }

    #[test]
    fn channels_are_separate() {
        let mut parts = emitted(&[(0, "Well")]);
        parts.record(1, Channel::Refusal, "No");
        let texts = [(0, TEXT, "Well"), (1, Channel::Refusal, "No."), (2, TEXT, ".")];
        let wholes = texts.map(|(number, channel, text)| PartText {
            number,
            channel,
            text: text.to_owned(),
        });
        let added = parts.remainders(wholes.to_vec());
        let added: Vec<&str> = added.iter().map(|part| &*part.text).collect();
        assert_eq!(added, ["", ".", "."]);
    }
}
