//! The exact estimator compared with the vendors' tokenizers, and the heuristic compared with it.

use std::collections::{BTreeMap, HashSet};

use agcore_chat::{Message, TokenEstimator, TokenizerFamily, estimate_text};
use agcore_llm::{ExactEstimator, NoVocabulary};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// Texts with the counts of the tokenizers that are named in the README next to the file.
const SAMPLES: &str = include_str!("../../../agcore-chat/tests/fixtures/tokens/samples.json");

/// More such texts, in other languages. Half of them were used to fit the heuristic.
const LANGUAGES: &str = include_str!("../../../agcore-chat/tests/fixtures/tokens/languages.json");

/// The beginnings of tokens with which the heuristic splits words.
const FILTER: &[u8] = include_bytes!("../../../agcore-chat/src/tokens/heuristic/pieces.bin");

#[derive(Deserialize, Serialize)]
struct Sample {
    kind: String,
    name: String,
    #[serde(default)]
    held_out: bool,
    tokens: BTreeMap<String, u64>,
    text: String,
}

/// Returns the name of a family in the files.
fn key(family: TokenizerFamily) -> String {
    serde_json::from_value(serde_json::to_value(family).unwrap()).unwrap()
}

fn samples() -> Vec<Sample> {
    serde_json::from_str(SAMPLES).unwrap()
}

fn languages() -> Vec<Sample> {
    serde_json::from_str(LANGUAGES).unwrap()
}

fn exact(family: TokenizerFamily) -> ExactEstimator {
    ExactEstimator::new(family).unwrap()
}

#[test]
fn counts_every_sample_exactly() {
    for &family in ExactEstimator::FAMILIES {
        let exact = exact(family);
        for Sample {
            kind,
            name,
            tokens,
            text,
            ..
        } in samples().into_iter().chain(languages())
        {
            assert_eq!(exact.text(&text), tokens[&key(family)], "{kind} {name} in {family:?}");
        }
    }
}

/// Fills in the counts of samples that were added to `languages.json` with empty `tokens`.
#[test]
#[ignore = "writes a fixture"]
fn write_the_counts_of_samples() {
    let mut samples = languages();
    for &family in ExactEstimator::FAMILIES {
        let exact = exact(family);
        for sample in &mut samples {
            sample.tokens.insert(key(family), exact.text(&sample.text));
        }
    }
    let lines: Vec<String> = samples
        .iter()
        .map(|sample| serde_json::to_string(sample).unwrap())
        .collect();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../agcore-chat/tests/fixtures/tokens/languages.json"
    );
    std::fs::write(path, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
}

/// Returns a number for each script that the heuristic splits into pieces.
fn script(letter: char) -> Option<u8> {
    Some(match letter {
        '\u{400}'..='\u{52f}' => 0,
        '\u{600}'..='\u{6ff}' => 1,
        '\u{900}'..='\u{97f}' => 2,
        '\u{ac00}'..='\u{d7af}' => 3,
        '\u{e00}'..='\u{e7f}' => 4,
        '\u{3040}'..='\u{30ff}' => 5,
        '\u{4e00}'..='\u{9fff}' => 6,
        _ => return None,
    })
}

/// Returns the beginnings of the tokens of o200k in these scripts, with the script and whether a space precedes them.
fn pieces() -> HashSet<(u8, bool, String)> {
    let vocabulary = tiktoken::get_encoding("o200k_base").unwrap();
    let mut pieces = HashSet::new();
    for token in 0..u32::try_from(vocabulary.vocab_size()).unwrap() {
        let Ok(token) = vocabulary.decode_to_string(&[token]) else {
            continue;
        };
        let (spaced, word) = token.strip_prefix(' ').map_or((false, &*token), |word| (true, word));
        let Some(script) = word.chars().next().and_then(script) else {
            continue;
        };
        let is_word = word.chars().all(|letter| self::script(letter) == Some(script));
        // In Thai, Chinese and Japanese, a space is a token of its own.
        if !is_word || spaced && script > 3 {
            continue;
        }
        let ends = word.char_indices().map(|(at, letter)| at + letter.len_utf8());
        pieces.extend(ends.map(|end| (script, spaced, word[..end].to_owned())));
    }
    pieces
}

/// Computes the filter of the heuristic from the vocabulary of o200k.
fn filter() -> Vec<u8> {
    const BITS: u32 = 18;
    let mut filter = vec![0; 1 << (BITS - 3)];
    for (script, spaced, piece) in pieces() {
        let hash = piece.chars().fold(if spaced { 1_u64 } else { 2 }, |hash, letter| {
            (hash.rotate_left(5) ^ u64::from(letter)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        let probes = if script == 6 { 3 } else { 2 };
        for probe in 1..=probes {
            let at = (hash >> (u64::BITS - probe * BITS)) as usize & ((1 << BITS) - 1);
            filter[at / 8] |= 1 << (at % 8);
        }
    }
    filter
}

#[test]
fn the_filter_contains_the_beginnings_of_tokens() {
    assert!(filter() == FILTER, "run the ignored test `write_the_filter`");
}

/// Writes the file that `agcore_chat` includes.
#[test]
#[ignore = "writes a source file"]
fn write_the_filter() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../agcore-chat/src/tokens/heuristic/pieces.bin"
    );
    std::fs::write(path, filter()).unwrap();
}

#[test]
fn the_heuristic_is_within_its_bounds() {
    for &family in ExactEstimator::FAMILIES {
        let exact = exact(family);
        let mut samples = samples();
        samples.extend(languages().into_iter().filter(|sample| sample.held_out));
        for kind in samples.chunk_by(|a, b| a.kind == b.kind) {
            let sum = |count: &dyn Fn(&str) -> u64| kind.iter().map(|sample| count(&sample.text)).sum::<u64>();
            let estimate = sum(&|text| estimate_text(text, family));
            let count = sum(&|text| exact.text(text));
            let error = estimate as f64 / count as f64 - 1.0;
            assert!(error.abs() <= 0.15, "{} in {family:?}: {error:+.3}", kind[0].kind);
        }
    }
}

#[test]
fn rejects_families_that_are_not_built_in() {
    for &family in TokenizerFamily::ALL {
        match ExactEstimator::new(family) {
            Ok(exact) => assert!(exact.family() == family && ExactEstimator::FAMILIES.contains(&family)),
            Err(NoVocabulary { family: rejected, .. }) => {
                assert!(rejected == family && !ExactEstimator::FAMILIES.contains(&family));
            }
        }
    }
    let error = ExactEstimator::new(TokenizerFamily::Claude3).unwrap_err();
    insta::assert_snapshot!(error, @"the vocabulary of the family Claude3 is not built in: use HeuristicEstimator, which supports every family");
}

#[test]
fn counts_edge_cases() {
    let exact = exact(TokenizerFamily::O200k);
    let check = |text: &str, tokens: u64| assert_eq!(exact.text(text), tokens, "{text:?}");
    check("", 0);
    check("hello world", 2);
    check("\r\n\r\n", 1);
    check("\0", 1);
    // This is text, not the special token that ends a document.
    assert!(exact.text("<|endoftext|>") > 1);
    // As with any estimator, a message consists of its text and its delimiters.
    assert_eq!(exact.message(&Message::user("hello world")), 2 + 4);
}

/// A run without boundaries is the worst case of a tokenizer that merges pairs.
#[test]
fn counts_of_long_runs_are_proportional() {
    let exact = exact(TokenizerFamily::O200k);
    for unit in ["a", "=", " ", "漢", "ab", "\u{301}"] {
        let count = |times| exact.text(&unit.repeat(times));
        let (short, long) = (count(1_000), count(20_000));
        // The end of a run costs up to two tokens.
        assert!(long.abs_diff(20 * short) <= 40 + long / 50, "{unit:?}: {short}, {long}");
    }
}

proptest! {
    #[test]
    fn every_text_has_a_count(text in any::<String>()) {
        for &family in ExactEstimator::FAMILIES {
            let count = exact(family).text(&text);
            prop_assert_eq!(count == 0, text.is_empty());
            prop_assert!(count <= text.len() as u64, "{} tokens for {} bytes", count, text.len());
        }
    }
}
