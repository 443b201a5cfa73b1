//! [`Card`]: a tool's call in one line.

use std::{fmt, time::Duration};

use super::{
    style::Palette,
    text::{columns, shortened},
};

/// The columns of a tool's name; a model may ask for a tool that nobody has.
const NAME: usize = 64;

/// The least that is shown of an input or output, even if it breaks the line.
const LEAST: usize = 8;

/// A call that is done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Card<'a> {
    pub(super) name: &'a str,
    pub(super) input: &'a str,
    pub(super) output: &'a str,
    pub(super) is_error: bool,
    pub(super) duration: Duration,
}

impl Card<'_> {
    /// `✓ name arguments 12 ms result`, within this width.
    pub(super) fn line(&self, palette: Palette, width: usize) -> String {
        let Palette { good, bad, dim, .. } = palette;
        let (style, sign) = if self.is_error { (bad, '✗') } else { (good, '✓') };
        let (name, time) = (shortened(self.name, NAME), Shown(self.duration).to_string());
        // The sign, and the spaces between the parts.
        let room = width.saturating_sub(columns(&name) + columns(&time) + 5);
        let output = shortened(self.output, room.max(LEAST));
        let left = room.saturating_sub(columns(&output)).max(room / 3).max(LEAST);
        let input = shortened(arguments(self.input), left);
        let room = room.saturating_sub(columns(&input)).max(LEAST);
        let output = shortened(self.output, room);
        let space = if input.is_empty() { "" } else { " " };
        format!("{style}{sign} {name}{style:#}{space}{dim}{input} {time}{dim:#} {output}")
    }
}

/// Name and arguments of a call, within this width.
pub(super) fn call(name: &str, input: &str, width: usize) -> (String, String) {
    let name = shortened(name, NAME);
    let room = width.saturating_sub(columns(&name) + 3).max(LEAST);
    (name, shortened(arguments(input), room))
}

/// Arguments that say something.
fn arguments(input: &str) -> &str {
    match input.trim() {
        "{}" => "",
        input => input,
    }
}

/// A duration for people.
pub(super) struct Shown(pub(super) Duration);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_secs(1) {
            write!(f, "{} ms", self.0.as_millis())
        } else {
            write!(f, "{:.1} s", self.0.as_secs_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_fits_and_shows_a_part_of_all() {
        let check = |input: &str, output: &str, width: usize, expected: &str| {
            let card = Card {
                name: "get",
                input,
                output,
                is_error: false,
                duration: Duration::from_millis(5),
            };
            let line = card.line(Palette::default(), width);
            assert_eq!(line, expected);
        };
        check("{}", "four", 80, "✓ get 5 ms four");
        check("{\"a\":1}", "four", 80, "✓ get {\"a\":1} 5 ms four");
        let (long, other) = ("a".repeat(90), "b".repeat(90));
        check(&long, "ok", 60, &format!("✓ get {}… 5 ms ok", "a".repeat(45)));
        check(
            &long,
            &other,
            60,
            &format!("✓ get {}… 5 ms {}…", "a".repeat(15), "b".repeat(31)),
        );
    }
}
