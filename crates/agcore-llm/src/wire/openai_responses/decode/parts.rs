//! [`Parts`]: what was told of an item's texts, so that nothing is told twice.
//!
//! Pieces and whole texts name their part by a number that is not always to be relied on: vLLM counts it up with every
//! piece, and tells the whole under another one. So whole texts are held against what was told; numbers count only where
//! the texts differ.

use serde_json::Value;

use super::channel::Channel;

/// The parts of an item's content or summary, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Parts {
    all: Vec<Part>,
    /// The place of the part that was announced last.
    announced: Option<usize>,
}

/// One part.
#[derive(Debug, Default)]
struct Part {
    number: u64,
    /// The last number that pieces of it came under.
    last_number: u64,
    channel: Option<Channel>,
    /// Its text as it was told.
    told: String,
    /// Whether its whole text was seen.
    is_whole: bool,
    annotations: Vec<Value>,
}

/// Text of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartText {
    pub(super) number: u64,
    pub(super) channel: Channel,
    pub(super) text: String,
}

impl Parts {
    /// A part begins.
    pub(super) fn announce(&mut self, number: u64) {
        let known = self.all.iter().position(|part| part.number == number);
        self.announced = Some(known.unwrap_or_else(|| self.open(number)));
    }

    /// A piece came under this number. Where parts are announced, one that was not is no part: the last one goes on.
    pub(super) fn goes_on(&mut self, number: u64) {
        if let Some(at) = self.announced.filter(|_| self.find(number).is_none()) {
            let part = &mut self.all[at];
            part.last_number = part.last_number.max(number);
        }
    }

    /// Notes what is told of a part; gives its own number.
    pub(super) fn tell(&mut self, number: u64, channel: Channel, text: &str) -> u64 {
        let part = self.part(number);
        part.channel = Some(channel);
        part.told.push_str(text);
        part.number
    }

    /// The whole text of a part came: gives what it adds to the pieces. Where pieces came under other numbers and are not
    /// whole either, it may be the whole of those: the end of the item will tell.
    pub(super) fn rest<'a>(&mut self, number: u64, whole: &'a str) -> &'a str {
        self.part(number).is_whole = true;
        if self.all.iter().any(|part| !part.is_whole && !part.told.is_empty()) {
            return "";
        }
        whole.strip_prefix(&*self.part(number).told).unwrap_or_default()
    }

    /// What the whole texts of an item add to what was told of it. What was told otherwise cannot be taken back.
    pub(super) fn rests(&self, mut wholes: Vec<PartText>) -> Vec<PartText> {
        let last = wholes.last().map(|whole| whole.number);
        for channel in Channel::ALL {
            let mut same: Vec<&mut PartText> = wholes.iter_mut().filter(|whole| whole.channel == channel).collect();
            let told: String = self.of(channel).map(|part| &*part.told).collect();
            let whole: String = same.iter().map(|whole| &*whole.text).collect();
            if !whole.starts_with(&told) {
                same.retain(|whole| self.may_be_told(channel, whole.number, last));
                same.into_iter().for_each(|whole| whole.text.clear());
                continue;
            }
            let mut left = told.len();
            for whole in same {
                let begin = whole.text.len().min(left);
                whole.text.drain(..begin);
                left -= begin;
            }
        }
        wholes
    }

    /// What was noted on a part.
    pub(super) fn annotations(&mut self, number: u64) -> &mut Vec<Value> {
        &mut self.part(number).annotations
    }

    /// Takes what was noted on all parts.
    pub(super) fn take_annotations(&mut self) -> Vec<Value> {
        let parts = self.all.iter_mut();
        parts.flat_map(|part| std::mem::take(&mut part.annotations)).collect()
    }

    /// Whether something was told under this number, or under one that the item has not, so that numbers say nothing.
    fn may_be_told(&self, channel: Channel, number: u64, last: Option<u64>) -> bool {
        self.of(channel)
            .any(|part| part.goes_by(number) || Some(part.number) > last)
    }

    /// The parts of which something was told in a channel.
    fn of(&self, channel: Channel) -> impl Iterator<Item = &Part> {
        self.all.iter().filter(move |part| part.channel == Some(channel))
    }

    fn part(&mut self, number: u64) -> &mut Part {
        let at = self.find(number).unwrap_or_else(|| self.open(number));
        &mut self.all[at]
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.all.iter().rposition(|part| part.goes_by(number))
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
    fn goes_by(&self, number: u64) -> bool {
        (self.number..=self.last_number).contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Channel = Channel::Text;

    /// Parts of which these pieces were told.
    fn told(pieces: &[(u64, &str)]) -> Parts {
        let mut parts = Parts::default();
        for (number, text) in pieces {
            parts.goes_on(*number);
            parts.tell(*number, TEXT, text);
        }
        parts
    }

    #[track_caller]
    fn check_whole(pieces: &[(u64, &str)], (number, whole): (u64, &str), expected: &str) {
        assert_eq!(told(pieces).rest(number, whole), expected, "{pieces:?}");
    }

    #[test]
    fn a_whole_text_adds_what_its_pieces_lack() {
        check_whole(&[], (0, "Hello"), "Hello");
        check_whole(&[(0, "Hel"), (0, "lo")], (0, "Hello"), "");
        check_whole(&[(0, "Hel")], (0, "Hello"), "lo");
        check_whole(&[(0, "Hel")], (0, "Goodbye"), "");
        check_whole(&[(0, "Hel")], (0, ""), "");
    }

    #[test]
    fn a_whole_text_may_be_that_of_pieces_under_other_numbers() {
        check_whole(&[(0, "Hel"), (1, "lo")], (0, "Hello"), "");
        check_whole(&[(2, "Hel"), (3, "lo")], (0, "Hello"), "");
        let mut parts = told(&[(0, "One")]);
        assert_eq!(parts.rest(0, "One"), "");
        assert_eq!(parts.rest(1, "One, too"), "One, too", "the first is whole");
    }

    #[test]
    fn pieces_without_a_part_of_their_own_go_on_with_the_announced_one() {
        let mut parts = Parts::default();
        parts.announce(4);
        for (number, text) in [(5, "Hel"), (6, "lo")] {
            parts.goes_on(number);
            assert_eq!(parts.tell(number, TEXT, text), 4);
        }
        assert_eq!(parts.rest(6, "Hello!"), "!");
        parts.announce(6);
        parts.goes_on(6);
        assert_eq!(parts.tell(6, TEXT, "Next"), 6, "announced itself");
    }

    #[track_caller]
    fn check_item(pieces: &[(u64, &str)], wholes: &[&str], expected: &[&str]) {
        let texts = (0..).zip(wholes).map(|(number, text)| PartText {
            number,
            channel: TEXT,
            text: (*text).to_owned(),
        });
        let rests = told(pieces).rests(texts.collect());
        let rests: Vec<&str> = rests.iter().map(|rest| &*rest.text).collect();
        assert_eq!(rests, expected, "{pieces:?}");
    }

    #[test]
    fn a_whole_item_adds_what_was_not_told() {
        check_item(&[], &["One", "Two"], &["One", "Two"]);
        check_item(&[(0, "One")], &["One", "Two"], &["", "Two"]);
        check_item(&[(0, "One"), (1, "T")], &["One", "Two"], &["", "wo"]);
        check_item(&[(0, "On"), (1, "eTw")], &["One", "Two"], &["", "o"]);
        check_item(&[(7, "One"), (8, "Two")], &["OneTwo", "Three"], &["", "Three"]);
    }

    #[test]
    fn numbers_count_where_texts_differ() {
        check_item(&[(1, "Two")], &["One", "Two"], &["One", ""]);
        check_item(&[(0, "Uno")], &["One", "Two"], &["", "Two"]);
        check_item(&[(7, " One"), (8, "Two")], &["OneTwo"], &[""]);
    }

    #[test]
    fn channels_are_told_apart() {
        let mut parts = told(&[(0, "Well")]);
        parts.tell(1, Channel::Refusal, "No");
        let texts = [(0, TEXT, "Well"), (1, Channel::Refusal, "No."), (2, TEXT, ".")];
        let wholes = texts.map(|(number, channel, text)| PartText {
            number,
            channel,
            text: text.to_owned(),
        });
        let rests = parts.rests(wholes.to_vec());
        let rests: Vec<&str> = rests.iter().map(|rest| &*rest.text).collect();
        assert_eq!(rests, ["", ".", "."]);
    }
}
