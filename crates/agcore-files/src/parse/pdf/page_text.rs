//! [`PageText`]: puts the texts of a page into lines and paragraphs by their positions.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// The largest distance of two texts on the same line, in parts of the font size.
const SAME_LINE: f32 = 0.4;

/// The largest distance of an index or exponent from the line that it directly continues, in parts of the font size.
const SAME_LINE_NEXT: f32 = 0.7;

/// The smallest distance from the line that an index or exponent has, in parts of the font size.
const RAISED: f32 = 0.1;

/// The largest distance of two lines of the same paragraph, in parts of the font size.
const SAME_PARAGRAPH: f32 = 1.75;

/// The largest difference of the font sizes of two lines of the same paragraph, in parts of the larger one.
const SAME_SIZE: f32 = 0.15;

/// The largest distance between two copies of a text that make it look bold, in parts of the font size.
const SAME_PLACE: f32 = 0.12;

/// The number of places that are kept for each text, to find copies of it.
const MAX_PLACES: usize = 16;

/// The number of different texts whose places are kept.
const MAX_TEXTS: usize = 10_000;

/// The smallest cosine of the angle between two texts in the same direction.
const SAME_DIRECTION: f32 = 0.9;

/// A place on the page, or a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f32,
}

impl Point {
    /// Returns the way from another point to this one.
    fn since(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
        }
    }

    /// Returns how far this way leads in a direction of length 1.
    fn along(self, direction: Self) -> f32 {
        self.x * direction.x + self.y * direction.y
    }
}

/// A text with its place on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    /// Where the text begins, and where it ends.
    pub(super) start: Point,
    pub(super) end: Point,
    /// The direction in which the text is written, and that in which the next line follows.
    pub(super) forward: Point,
    pub(super) down: Point,
    /// The font size, in the unit of the page.
    pub(super) size: f32,
    /// The smallest gap that is a space, in the unit of the page.
    pub(super) gap: f32,
}

/// The text of a page. Texts are kept in the order in which they are drawn, which is the order of reading in almost all files.
#[derive(Debug, Default)]
pub(super) struct PageText {
    text: String,
    last: Option<Placed>,
    /// Where texts were drawn, by their hash.
    places: HashMap<u64, Vec<Placed>>,
}

impl PageText {
    /// Adds a text. A copy of a text at the same place, which makes it look bold, is left out.
    pub(super) fn push(&mut self, text: &str, place: Placed) {
        if text.is_empty() || self.is_copy(text, place) {
            return;
        }
        if let Some(last) = self.last {
            self.separate(text, last, place);
        }
        let kept = text.chars().filter_map(|char| match char {
            '\n' | '\r' => Some(' '),
            char => Some(char).filter(|char| !char.is_control() || *char == '\t'),
        });
        self.text.extend(kept);
        self.last = Some(place);
    }

    /// Returns the text, with blank lines between paragraphs.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn is_copy(&mut self, text: &str, place: Placed) -> bool {
        if text.trim().is_empty() {
            return false;
        }
        if self.places.len() == MAX_TEXTS {
            self.places.clear();
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let places = self.places.entry(hasher.finish()).or_default();
        let is_same = |other: &Placed| {
            let way = place.start.since(other.start);
            // Narrow letters follow each other at a small distance.
            let width = other.end.since(other.start).along(other.forward).abs() / 2.0;
            let limit = (SAME_PLACE * place.size).min(width.max(f32::MIN_POSITIVE));
            way.x.abs() <= limit
                && way.y.abs() <= limit
                && (place.size - other.size).abs() <= SAME_SIZE * place.size
                && place.forward.along(other.forward) > SAME_DIRECTION
        };
        if places.iter().any(is_same) {
            return true;
        }
        if places.len() == MAX_PLACES {
            places.remove(0);
        }
        places.push(place);
        false
    }

    fn separate(&mut self, text: &str, last: Placed, place: Placed) {
        let size = last.size.max(place.size).max(f32::MIN_POSITIVE);
        let way = place.start.since(last.start);
        let down = way.along(last.down) / size;
        let gap = place.start.since(last.end).along(last.forward);
        let is_same_size = (last.size - place.size).abs() <= SAME_SIZE * size;
        // Indices and exponents are smaller than what is before or after them.
        let is_raised = !is_same_size && (gap / size).abs() <= SAME_LINE && down.abs() <= SAME_LINE_NEXT;
        // The font of an index is smaller, and its distance is not.
        let smallest = if is_raised {
            last.gap.max(place.gap)
        } else {
            last.gap.min(place.gap)
        };
        if last.forward.along(place.forward) < SAME_DIRECTION {
            self.text.push_str("\n\n");
        } else if down.abs() > SAME_LINE && !is_raised {
            // A heading is larger than the paragraph below it.
            let is_next_line = is_same_size && (0.0..=SAME_PARAGRAPH).contains(&down);
            self.text.push_str(if is_next_line { "\n" } else { "\n\n" });
        } else if !self.text.ends_with(char::is_whitespace)
            && !text.starts_with(char::is_whitespace)
            && (gap >= smallest
                || way.along(last.forward) < 0.0
                || (is_raised && down.abs() >= RAISED && self.is_number(text)))
        {
            self.text.push(' ');
        }
    }

    /// Returns whether the text so far and another one would become a single number.
    fn is_number(&self, text: &str) -> bool {
        let is_digit = |char: char| char.is_ascii_digit();
        self.text.ends_with(is_digit) && text.starts_with(is_digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            page.push(text, placed(x, y));
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
            page.push("H", placed(0.0, 100.0));
            page.push(text, small);
            page.push("x", placed(50.0, 60.0));
            assert_eq!(page.into_text(), expected);
        }
        // A note is not a part of the number before it.
        let mut page = PageText::default();
        page.push("750", placed(0.0, 100.0));
        page.push("1", small);
        page.push("O", placed(10.0, 100.0));
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
        page.push("a", placed(0.0, 100.0));
        let up = Placed {
            forward: Point { x: 0.0, y: 1.0 },
            down: Point { x: 1.0, y: 0.0 },
            ..placed(5.0, 100.0)
        };
        page.push("b", up);
        page.push(
            "c",
            Placed {
                start: Point { x: 17.0, y: 100.0 },
                ..up
            },
        );
        assert_eq!(page.into_text(), "a\n\nb\nc");
    }
}
