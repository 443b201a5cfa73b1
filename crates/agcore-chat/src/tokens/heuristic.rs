//! Counting the tokens of a text without a tokenizer.
//!
//! A byte-pair tokenizer first cuts a text into words, numbers, runs of signs and runs of space, then
//! looks each piece up in its vocabulary. The estimate does the first half and weighs what it finds:
//! how long a word is and how common its pairs of letters are, which script it is in, how signs
//! combine. It needs one pass and no memory, and stays within 15 % of the vocabulary's own count for
//! every kind of text it was checked on, from prose in eight languages to code, JSON, logs and
//! base64.

mod family;
mod class;
mod charset;
mod letters;
mod puncts;
mod han;
mod hangul;
mod unit;
mod scan;

pub use family::TokenizerFamily;

use scan::Scanner;

/// An estimate of how many tokens `text` has in the vocabulary of `family`.
///
/// Takes one pass and no memory. The empty text has none, any other at least one, and appending to a
/// text never lowers its estimate. What a request puts around its texts, such as roles and
/// separators, is not included.
///
/// ```
/// use agcore_chat::tokens::{TokenizerFamily, estimate_text};
///
/// let text = "The quick brown fox jumps over the lazy dog.";
/// assert_eq!(estimate_text(text, TokenizerFamily::O200k), 10);
/// ```
#[must_use]
pub fn estimate_text(text: &str, family: TokenizerFamily) -> u64 {
    let mut thousandths = 0_u64;
    let mut scanner = Scanner::new(|unit| {
        thousandths = thousandths.saturating_add(u64::from(unit.weight(family)));
    });
    text.chars().for_each(|c| scanner.push(c));
    let rounded = thousandths.saturating_add(500) / 1_000;
    rounded.max(u64::from(!text.is_empty()))
}
