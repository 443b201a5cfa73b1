//! [`PageText`]: puts the glyphs of a page into words, lines and paragraphs by their positions.

use super::{accents, copies::Copies, place::Placed};

/// The largest distance of two glyphs on the same line, in parts of the font size.
const SAME_LINE: f32 = 0.4;

/// The largest distance of an index or exponent from the line that it directly continues, in parts of the font size.
const SAME_LINE_NEXT: f32 = 0.7;

/// The smallest distance from the line that an index or exponent has, in parts of the font size.
const RAISED: f32 = 0.1;

/// The part of the font size of a line that an index or exponent may begin before the end of the glyph in front of it.
const OVERLAP: f32 = 0.7;

/// The part of the font size that a glyph must begin before the one in front of it to be another word.
const BACK: f32 = 0.3;

/// The largest distance of two lines of the same paragraph, in parts of the font size.
const SAME_PARAGRAPH: f32 = 1.75;

/// The character in place of those that are not known. Several of them become one.
pub(super) const UNKNOWN: &str = "\u{fffd}";

const SOFT_HYPHEN: char = '\u{ad}';

/// The white space between a glyph and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Nothing,
    Space,
    Line,
    Paragraph,
}

/// The text of a page. Glyphs are kept in the order in which they are drawn, which is the order of reading in almost all files.
#[derive(Debug, Default)]
pub(super) struct PageText {
    text: String,
    last: Option<Placed>,
    /// Where the characters of the last glyph begin in the text.
    last_at: usize,
    /// The latest glyph on the line that is neither an index nor an exponent.
    base: Option<Placed>,
    copies: Copies,
}

impl PageText {
    /// Adds the characters of a glyph, which are not empty. Copies of glyphs at the same place, which make them look bold, are
    /// left out. `is_continued` is whether the glyph belongs to the same text as the one before it.
    pub(super) fn push(&mut self, text: &str, place: Placed, is_continued: bool) {
        let is_blank = text.trim().is_empty();
        if self.copies.is_copy(text, place, is_continued) {
            return;
        }
        let separator = self.separator(text, place);
        if separator == Separator::Nothing && text == UNKNOWN && self.text.ends_with(UNKNOWN) {
            self.extend(place);
            return;
        }
        if self.combine(text, place) {
            return;
        }
        match separator {
            // A line does not begin with spaces.
            Separator::Line | Separator::Paragraph if is_blank => return,
            Separator::Nothing => {}
            Separator::Space if text.starts_with(char::is_whitespace) || self.text.ends_with(char::is_whitespace) => {}
            Separator::Space => self.text.push(' '),
            Separator::Line => self.text.push('\n'),
            Separator::Paragraph => self.text.push_str("\n\n"),
        }
        let kept = text.chars().filter_map(|char| match char {
            '\n' | '\r' => Some(' '),
            // Fonts often name their hyphen like this, and only those that are seen are drawn.
            SOFT_HYPHEN => Some('-'),
            char => Some(char).filter(|char| !char.is_control() || *char == '\t'),
        });
        self.last_at = self.text.len();
        self.text.extend(kept);
        self.last = Some(place);
        if !is_blank
            && self
                .base
                .is_none_or(|base| !is_raised(base, place) || place.size > base.size)
        {
            self.base = Some(place);
        }
    }

    /// Adds a glyph without characters of its own to the one before it.
    pub(super) fn extend(&mut self, place: Placed) {
        if let Some(last) = &mut self.last {
            last.end = place.end;
        }
    }

    /// Returns the length of the text so far in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the text, with blank lines between paragraphs.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Puts an accent on the letter that it is over, whichever of them is drawn first. Returns whether one of the two is a glyph
    /// and the other one is the last glyph.
    fn combine(&mut self, text: &str, place: Placed) -> bool {
        let Some(last) = self.last else { return false };
        let before = self.text.get(self.last_at..).unwrap_or_default();
        let accented = |accent: &str, accent_place: Placed, letter: &str, letter_place: Placed| {
            let found = accents::combining(accent)?;
            let is_over = is_over(accent_place, letter_place);
            is_over.then(|| accents::accented(letter, found, accent.starts_with(found)))?
        };
        let after = accented(before, last, text, place);
        let is_letter_last = after.is_some();
        let Some(combined) = after.or_else(|| accented(text, place, before, last)) else {
            return false;
        };
        self.text.truncate(self.last_at);
        self.text.push_str(&combined);
        if is_letter_last {
            self.last = Some(place);
        }
        true
    }

    fn separator(&self, text: &str, place: Placed) -> Separator {
        let (Some(last), Some(base)) = (self.last, self.base.or(self.last)) else {
            return Separator::Nothing;
        };
        if !last.has_direction_of(&place) {
            return Separator::Paragraph;
        }
        let is_leftward = self.is_leftward(text, last, place);
        let gap = if is_leftward {
            last.start.since(place.end).along(last.forward)
        } else {
            place.start.since(last.end).along(last.forward)
        };
        let is_next = |size: f32| (-OVERLAP * size..=SAME_LINE * size).contains(&gap);
        let is_index = is_raised(last, place) && is_next(last.size.max(place.size));
        let is_on_line = |other: Placed| distance(other, place).abs() <= SAME_LINE;
        // An exponent may be above an index, and far from it.
        let is_second = || is_raised(base, last) && is_raised(base, place) && is_next(base.size);
        let is_stacked = !is_index && !is_on_line(last) && is_second();
        if !(is_index || is_stacked || is_on_line(last) || is_raised(base, last) && is_on_line(base)) {
            let down = distance(last, place);
            // A heading is larger than the paragraph below it.
            let is_next_line = last.has_size_of(&place) && (0.0..=SAME_PARAGRAPH).contains(&down);
            return if is_next_line {
                Separator::Line
            } else {
                Separator::Paragraph
            };
        }
        // The font of an index is smaller, and its distance is not.
        let smallest = if is_index {
            last.gap.max(place.gap)
        } else {
            last.gap.min(place.gap)
        };
        let size = last.size.max(place.size);
        let is_back = !is_leftward && place.start.since(last.start).along(last.forward) < -BACK * size;
        let is_note = is_index && distance(last, place).abs() >= RAISED && self.is_number(text);
        if gap >= smallest.max(f32::MIN_POSITIVE) || is_back || is_note || is_stacked {
            Separator::Space
        } else {
            Separator::Nothing
        }
    }

    /// Returns whether a glyph follows the one on its right, as in Arabic and Hebrew.
    fn is_leftward(&self, text: &str, last: Placed, place: Placed) -> bool {
        let is_on_left = place.start.since(last.start).along(last.forward) < 0.0;
        is_on_left && text.starts_with(is_right_to_left) && self.text.ends_with(is_right_to_left)
    }

    /// Returns whether the text so far and another one would become a single number.
    fn is_number(&self, text: &str) -> bool {
        let is_digit = |char: char| char.is_ascii_digit();
        self.text.ends_with(is_digit) && text.starts_with(is_digit)
    }
}

fn is_right_to_left(char: char) -> bool {
    matches!(char, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}')
}

/// Returns how far below a glyph another one is, in parts of the font size.
fn distance(upper: Placed, lower: Placed) -> f32 {
    let size = upper.size.max(lower.size).max(f32::MIN_POSITIVE);
    lower.start.since(upper.start).along(upper.down) / size
}

/// Returns whether the middle of an accent is over a letter, or under it.
fn is_over(accent: Placed, letter: Placed) -> bool {
    let width = accent.end.since(accent.start).along(letter.forward);
    let middle = accent.start.since(letter.start).along(letter.forward) + width / 2.0;
    let end = letter.end.since(letter.start).along(letter.forward);
    (0.0..=end).contains(&middle) && distance(accent, letter).abs() <= SAME_LINE && accent.has_direction_of(&letter)
}

/// Returns whether one of two glyphs can be an index or exponent of the other, which is larger.
fn is_raised(glyph: Placed, other: Placed) -> bool {
    !glyph.has_size_of(&other) && distance(glyph, other).abs() <= SAME_LINE_NEXT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::pdf::place::Point;

    fn placed(x: f32, y: f32) -> Placed {
        Placed {
            start: Point { x, y },
            end: Point { x: x + 5.0, y },
            forward: Point { x: 1.0, y: 0.0 },
            down: Point { x: 0.0, y: -1.0 },
            size: 10.0,
            gap: 1.4,
        }
    }

    #[track_caller]
    fn check(texts: &[(&str, f32, f32)], expected: &str) {
        let mut page = PageText::default();
        for &(text, x, y) in texts {
            page.push(text, placed(x, y), false);
        }
        assert_eq!(page.into_text(), expected);
    }

    #[test]
    fn texts_become_words_lines_and_paragraphs() {
        check(&[("a", 0.0, 100.0), ("b", 5.0, 100.0)], "ab");
        check(&[("a", 0.0, 100.0), ("b", 6.0, 100.0)], "ab");
        check(&[("a", 0.0, 100.0), ("b", 6.5, 100.0)], "a b");
        check(&[("a ", 0.0, 100.0), ("b", 8.0, 100.0)], "a b");
        check(&[("a", 0.0, 100.0), (" b", 8.0, 100.0)], "a b");
        check(&[("a", 0.0, 100.0), ("2", 5.0, 103.0)], "a2");
        check(&[("a", 0.0, 100.0), ("b", 0.0, 88.0)], "a\nb");
        check(&[("a", 0.0, 100.0), ("b", 0.0, 70.0)], "a\n\nb");
        check(&[("end", 0.0, 100.0), ("top", 200.0, 700.0)], "end\n\ntop");
        check(&[("", 0.0, 0.0)], "");
    }

    #[test]
    fn indices_and_exponents_stay_on_their_line() {
        let small = Placed {
            size: 6.0,
            ..placed(5.0, 105.0)
        };
        for (text, expected) in [("2", "H2\n\nx"), ("*", "H*\n\nx")] {
            let mut page = PageText::default();
            page.push("H", placed(0.0, 100.0), false);
            page.push(text, small, false);
            page.push("x", placed(50.0, 60.0), false);
            assert_eq!(page.into_text(), expected);
        }
        // A note is not a part of the number before it.
        let mut page = PageText::default();
        page.push("750", placed(0.0, 100.0), false);
        page.push("1", small, false);
        page.push("O", placed(10.0, 100.0), false);
        assert_eq!(page.into_text(), "750 1O");
        check(&[("750", 0.0, 100.0), ("1", 5.0, 102.0)], "7501");
    }

    #[test]
    fn copies_that_make_texts_look_bold_are_left_out() {
        check(
            &[("Title", 0.0, 100.0), ("Title", 0.3, 100.0), ("x", 9.0, 100.0)],
            "Title x",
        );
        check(
            &[("Title", 0.0, 100.0), ("a", 0.0, 50.0), ("Title", 0.5, 99.6)],
            "Title\n\na",
        );
        check(&[("l", 0.0, 100.0), ("l", 5.0, 100.0)], "ll");
        check(&[("a", 0.0, 100.0), ("a", 0.0, 88.0)], "a\na");
        check(&[("a", 0.0, 100.0), ("b", 0.0, 100.0)], "ab");
    }

    #[test]
    fn texts_in_other_directions_are_paragraphs() {
        let mut page = PageText::default();
        page.push("a", placed(0.0, 100.0), false);
        let up = Placed {
            forward: Point { x: 0.0, y: 1.0 },
            down: Point { x: 1.0, y: 0.0 },
            ..placed(5.0, 100.0)
        };
        page.push("b", up, false);
        page.push(
            "c",
            Placed {
                start: Point { x: 17.0, y: 100.0 },
                ..up
            },
            false,
        );
        assert_eq!(page.into_text(), "a\n\nb\nc");
    }
}
