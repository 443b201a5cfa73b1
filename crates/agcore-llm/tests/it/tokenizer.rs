//! The exact estimator compared with the vendors' tokenizers, and the heuristic compared with it.

use std::collections::HashMap;

use agcore_chat::{Message, TokenEstimator, TokenizerFamily, estimate_text};
use agcore_llm::{ExactEstimator, NoVocabulary};
use proptest::prelude::*;
use serde::Deserialize;

/// Texts with the counts of the tokenizers that are named in the README next to the file.
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
fn counts_every_sample_exactly() {
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
fn the_heuristic_is_within_its_bounds() {
    for &family in ExactEstimator::FAMILIES {
        let exact = exact(family);
        for kind in samples().chunk_by(|a, b| a.kind == b.kind) {
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
