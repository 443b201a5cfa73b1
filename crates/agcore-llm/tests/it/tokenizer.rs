//! The exact tokenizer against counts of the vendors' own, and the heuristic against it.

use std::collections::HashMap;

use agcore_chat::{Message, TokenEstimator, TokenizerFamily, tokens::estimate_text};
use agcore_llm::{ExactEstimator, NoVocabulary};
use proptest::prelude::*;
use serde::Deserialize;

/// Counted by the tokenizers named in the README beside the file.
const SAMPLES: &str = include_str!("../../../agcore-chat/tests/fixtures/tokens/samples.json");

#[derive(Deserialize)]
struct Sample {
    kind: String,
    name: String,
    tokens: HashMap<TokenizerFamily, u64>,
    text: String,
}

fn samples() -> Vec<Sample> {
    serde_json::from_str(SAMPLES).unwrap()
}

fn exact(family: TokenizerFamily) -> ExactEstimator {
    ExactEstimator::new(family).unwrap()
}

#[test]
fn every_sample_is_counted_to_the_token() {
    for &family in ExactEstimator::FAMILIES {
        let exact = exact(family);
        for Sample {
            kind,
            name,
            tokens,
            text,
        } in samples()
        {
            assert_eq!(exact.text(&text), tokens[&family], "{kind} {name} in {family:?}");
        }
    }
}

#[test]
fn the_heuristic_is_within_its_bounds_of_it() {
    for &family in ExactEstimator::FAMILIES {
        let exact = exact(family);
        for kind in samples().chunk_by(|a, b| a.kind == b.kind) {
            let sum = |count: &dyn Fn(&str) -> u64| kind.iter().map(|sample| count(&sample.text)).sum::<u64>();
            let (guess, count) = (sum(&|text| estimate_text(text, family)), sum(&|text| exact.text(text)));
            let error = guess as f64 / count as f64 - 1.0;
            assert!(error.abs() <= 0.15, "{} in {family:?}: {error:+.3}", kind[0].kind);
        }
    }
}

#[test]
fn a_family_is_built_in_or_says_that_it_is_not() {
    for &family in TokenizerFamily::ALL {
        match ExactEstimator::new(family) {
            Ok(exact) => assert!(exact.family() == family && ExactEstimator::FAMILIES.contains(&family)),
            Err(NoVocabulary { family: named, .. }) => {
                assert!(named == family && !ExactEstimator::FAMILIES.contains(&family));
            }
        }
    }
    let error = ExactEstimator::new(TokenizerFamily::Claude3).unwrap_err();
    insta::assert_snapshot!(error, @"no vocabulary of the family Claude3 is built in: estimate with HeuristicEstimator, which knows every family");
}

#[test]
fn edges() {
    let exact = exact(TokenizerFamily::O200k);
    let check = |text: &str, tokens: u64| assert_eq!(exact.text(text), tokens, "{text:?}");
    check("", 0);
    check("hello world", 2);
    check("\r\n\r\n", 1);
    check("\0", 1);
    // Text, not the one special token that ends a document.
    assert!(exact.text("<|endoftext|>") > 1);
    // A message is its text and its frame, as with any estimator.
    assert_eq!(exact.message(&Message::user("hello world")), 2 + 4);
}

/// A run without any border is the worst case of a pair-merging tokenizer.
#[test]
fn long_runs_count_in_proportion() {
    let exact = exact(TokenizerFamily::O200k);
    for unit in ["a", "=", " ", "漢", "ab", "\u{301}"] {
        let of = |times| exact.text(&unit.repeat(times));
        let (short, long) = (of(1_000), of(20_000));
        // How a run ends costs up to two tokens.
        assert!(long.abs_diff(20 * short) <= 40 + long / 50, "{unit:?}: {short}, {long}");
    }
}

proptest! {
    #[test]
    fn any_text_has_a_count(text in any::<String>()) {
        for &family in ExactEstimator::FAMILIES {
            let count = exact(family).text(&text);
            prop_assert_eq!(count == 0, text.is_empty());
            prop_assert!(count <= text.len() as u64, "{} for {} bytes", count, text.len());
        }
    }
}
