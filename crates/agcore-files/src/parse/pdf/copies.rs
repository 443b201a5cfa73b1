//! [`Copies`]: finds glyphs that are drawn several times at the same place, which makes them look bold.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::place::{Placed, Point};

/// The largest distance between two copies of a glyph, in parts of the font size.
const SAME_PLACE: f32 = 0.12;

/// The number of squares of a page in which glyphs are remembered.
const MAX_SQUARES: usize = 100_000;

/// A square of the page, for the glyphs with the same characters and about the same size. It is larger than the distance of two
/// copies, which are in the same square or in neighbouring ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Square {
    text: u64,
    exponent: i32,
    x: i32,
    y: i32,
}

/// The places of the glyphs of a page.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// The latest two glyphs of each square, which is too small for a third one.
    squares: HashMap<Square, [Option<Placed>; 2]>,
    was_copy: bool,
}

impl Copies {
    /// Returns whether a glyph is the copy of one before it, and remembers it otherwise. Spaces and glyphs without a width are
    /// copies if they follow one. Only the beginning of a text can be a copy, not a single letter in it, which texts that
    /// are too long for their place have in common with those that they cover.
    pub(super) fn is_copy(&mut self, text: &str, place: Placed, is_continued: bool) -> bool {
        let can_be = self.was_copy || !is_continued;
        let width = place.width();
        if !text.trim().is_empty() && width > 0.0 {
            let reach = (SAME_PLACE * place.size).min(width / 2.0);
            self.was_copy = can_be && self.is_known(text, place, reach);
            if !self.was_copy {
                self.remember(text, place);
            }
        } else {
            self.was_copy = can_be && self.was_copy;
        }
        self.was_copy
    }

    fn is_known(&self, text: &str, place: Placed, reach: f32) -> bool {
        let is_same = |other: &Placed| {
            let way = place.start.since(other.start);
            way.x.abs() <= reach && way.y.abs() <= reach && place.has_size_of(other) && place.has_direction_of(other)
        };
        let Point { x, y } = place.start;
        let (low, high) = (
            square(text, place.size, x - reach, y - reach),
            square(text, place.size, x + reach, y + reach),
        );
        let corners = [low, high, Square { x: low.x, ..high }, Square { y: low.y, ..high }];
        let mut kept = corners.iter().filter_map(|square| self.squares.get(square)).flatten();
        kept.any(|other| other.as_ref().is_some_and(is_same))
    }

    fn remember(&mut self, text: &str, place: Placed) {
        if self.squares.len() == MAX_SQUARES {
            self.squares.clear();
        }
        let kept = self
            .squares
            .entry(square(text, place.size, place.start.x, place.start.y))
            .or_default();
        *kept = [Some(place), kept[0]];
    }
}

fn square(text: &str, size: f32, x: f32, y: f32) -> Square {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let exponent = (2.0 * SAME_PLACE * size).log2().ceil();
    let side = exponent.exp2();
    Square {
        text: hasher.finish(),
        exponent: exponent as i32,
        x: (x / side).floor() as i32,
        y: (y / side).floor() as i32,
    }
}
