//! Estimating the tokens of a text without a tokenizer.
//!
//! A byte-pair tokenizer first splits a text into words, numbers, runs of punctuation and runs of white space, then
//! looks up each piece in its vocabulary. The estimate does the first step and weighs what it finds: the length of a
//! word and how common its pairs of letters are, its script, the combinations of punctuation. Words in seven scripts other
//! than Latin are split further, with a filter of 32 KiB that knows how tokens begin. It needs one pass and no allocation,
//! and stays within 15 % of the tokenizer's count for every kind of text that it was tested with, from prose in a dozen
//! languages to emoji, code, JSON, logs and base64.

mod family;
mod class;
mod letters;
mod puncts;
mod pieces;
mod unit;
mod scan;

pub use family::TokenizerFamily;

use scan::Scanner;

/// Estimates how many tokens a text has in the vocabulary of a tokenizer family.
///
/// Takes one pass and does not allocate. The estimate is 0 for the empty text and at least 1 for any other, and
/// appending to a text never lowers it. The roles and delimiters that a request adds around its texts are not included.
///
/// ```
/// use agcore_chat::{TokenizerFamily, estimate_text};
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
