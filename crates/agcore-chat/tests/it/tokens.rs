//! Token estimates compared with the counts of real tokenizers, and properties of the estimate of any text.
//!
//! The samples are held out: none of those that are tested was used to fit the weights of the estimate.

use std::collections::HashMap;

use agcore_chat::{HeuristicEstimator, TokenEstimator, TokenizerFamily, estimate_text};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::Deserialize;

/// The maximum relative error of the estimate over all samples of a kind.
const KIND_LIMIT: f64 = 0.15;
/// The maximum relative error of the estimate of one sample. Each has at least 500 characters.
const SAMPLE_LIMIT: f64 = 0.20;

#[derive(Deserialize)]
struct Sample {
    kind: String,
    name: String,
    /// Whether the sample was kept out of the fit. Files without this field have only such samples.
    #[serde(default = "held_out")]
    held_out: bool,
    /// The count of each family's own tokenizer.
    tokens: HashMap<TokenizerFamily, u64>,
    text: String,
}

fn samples() -> Vec<Sample> {
    serde_json::from_str(include_str!("../fixtures/tokens/samples.json")).unwrap()
}

/// Returns the samples in many languages that were not used to fit the weights.
fn languages() -> Vec<Sample> {
    let samples: Vec<Sample> = serde_json::from_str(include_str!("../fixtures/tokens/languages.json")).unwrap();
    samples.into_iter().filter(|sample| sample.held_out).collect()
}

fn held_out() -> bool {
    true
}

/// Groups the samples by kind, in the order of the file.
fn by_kind(samples: &[Sample]) -> Vec<&[Sample]> {
    samples.chunk_by(|a, b| a.kind == b.kind).collect()
}

/// Returns the relative error of an estimate, positive if it is too high.
fn error(estimate: u64, actual: u64) -> f64 {
    estimate as f64 / actual as f64 - 1.0
}

/// Returns the relative error over all samples of a kind together.
fn kind_error(kind: &[Sample], family: TokenizerFamily, estimate: impl Fn(&str, TokenizerFamily) -> u64) -> f64 {
    let estimated = kind.iter().map(|s| estimate(&s.text, family)).sum();
    error(estimated, kind.iter().map(|s| s.tokens[&family]).sum())
}

#[test]
fn the_estimator_is_close_for_every_kind_in_every_family() {
    let (table, off) = compare_kinds(&samples());
    println!("{table}");
    assert!(off.is_empty(), "{off:#?}");
}

#[test]
fn the_estimator_is_close_for_every_language_in_every_family() {
    let samples = languages();
    let kinds = by_kind(&samples);
    assert!(kinds.len() >= 15 && kinds.iter().all(|kind| kind.len() >= 2));
    let (table, off) = compare_kinds(&samples);
    println!("{table}");
    assert!(off.is_empty(), "{off:#?}");
}

/// Returns a table of the relative errors by kind and family, and those that exceed the limit.
fn compare_kinds(samples: &[Sample]) -> (String, Vec<String>) {
    let mut off = Vec::new();
    let mut table = format!("{:24}{:>8}", "kind (held out)", "samples");
    for family in TokenizerFamily::ALL {
        table += &format!("{:>10}", format!("{family:?}"));
    }
    let mut worst = vec![0.0_f64; TokenizerFamily::ALL.len()];
    for kind in by_kind(samples) {
        table += &format!("\n{:24}{:>8}", kind[0].kind, kind.len());
        for (&family, worst) in TokenizerFamily::ALL.iter().zip(&mut worst) {
            let error = kind_error(kind, family, estimate_text);
            table += &format!("{:>10}", format!("{:+.1} %", error * 100.0));
            *worst = worst.max(error.abs());
            if error.abs() > KIND_LIMIT {
                off.push(format!("{} in {family:?}: {error:+.3}", kind[0].kind));
            }
        }
    }
    table += &format!("\n{:24}{:>8}", "worst", samples.len());
    for worst in worst {
        table += &format!("{:>10}", format!("{:.1} %", worst * 100.0));
    }
    (table, off)
}

#[test]
fn every_sample_is_close_in_every_family() {
    for sample in samples() {
        let Sample { kind, name, .. } = &sample;
        assert!(
            sample.text.chars().count() >= 500,
            "{kind} {name} is too short to judge"
        );
        for &family in TokenizerFamily::ALL {
            let error = error(estimate_text(&sample.text, family), sample.tokens[&family]);
            assert!(error.abs() <= SAMPLE_LIMIT, "{kind} {name} in {family:?}: {error:+.3}");
        }
    }
}

#[test]
fn every_sample_of_a_language_is_close_to_o200k() {
    let family = TokenizerFamily::O200k;
    for Sample {
        kind,
        name,
        tokens,
        text,
        ..
    } in languages()
    {
        let error = error(estimate_text(&text, family), tokens[&family]);
        assert!(error.abs() <= KIND_LIMIT, "{kind} {name}: {error:+.3}");
    }
}

/// Shows that the limit is meaningful: the usual rules of thumb exceed it for most kinds.
#[test]
fn rules_of_thumb_exceed_the_limit() {
    let samples = samples();
    let kinds = by_kind(&samples);
    assert!(kinds.len() >= 20 && kinds.iter().all(|kind| kind.len() >= 3));
    let rules: [fn(&str) -> usize; 3] = [
        |text| text.len() / 4,
        |text| text.chars().count() / 4,
        |text| text.len() * 4 / 3,
    ];
    for rule in rules {
        let bad = |kind: &&&[Sample]| {
            let error = kind_error(kind, TokenizerFamily::O200k, |text, _| rule(text) as u64);
            error.abs() > KIND_LIMIT
        };
        assert!(kinds.iter().filter(bad).count() > kinds.len() / 2);
    }
}

/// Compares with the actual counts of `o200k_base`.
#[test]
fn short_texts_have_their_exact_count() {
    let check = |text: &str, expected: u64| {
        assert_eq!(estimate_text(text, TokenizerFamily::O200k), expected, "{text:?}");
    };
    check("", 0);
    check(" ", 1);
    check("\n", 1);
    check("a", 1);
    check("中", 1);
    check("hello", 1);
    check("hello world", 2);
    check("The quick brown fox jumps over the lazy dog.", 10);
    check("12345678", 3);
    check("x = y + 1;", 7);
    check("{\"a\":1}", 5);
    check("don\u{2019}t", 2);
}

#[test]
fn a_newer_tokenizer_of_the_same_vendor_counts_more() {
    let total = |family| samples().iter().map(|s| estimate_text(&s.text, family)).sum::<u64>();
    let (old, new) = (total(TokenizerFamily::Claude3), total(TokenizerFamily::Claude47));
    assert!(new > old * 11 / 10, "{old} and {new}");
    assert!(total(TokenizerFamily::O200k) < total(TokenizerFamily::Cl100k));
}

/// The estimate grows in proportion to the length, even for long runs of one character.
#[test]
fn estimates_of_long_texts_are_proportional() {
    let check = |unit: &str| {
        let estimate = |times| estimate_text(&unit.repeat(times), TokenizerFamily::O200k);
        let (short, long) = (estimate(2_000), estimate(200_000));
        // The start of a run counts only once, and each result is rounded.
        assert!(long.abs_diff(100 * short) <= 500, "{unit:?}: {short}, {long}");
    };
    for unit in [
        "word ", "0", "x=1;\n", "漢", "한", "я", "😀", "é", "─", " ", "\n", "\t", "=",
    ] {
        check(unit);
    }
}

#[test]
fn names_of_families_are_stable() {
    let names = serde_json::to_string(TokenizerFamily::ALL).unwrap();
    let expected = r#"["o200k","cl100k","llama3","qwen","deepseek","claude3","claude47"]"#;
    assert_eq!(names, expected);
    assert_eq!(
        serde_json::from_str::<Vec<TokenizerFamily>>(&names).unwrap(),
        TokenizerFamily::ALL
    );
    assert_eq!(TokenizerFamily::default(), TokenizerFamily::O200k);
}

/// Any text, with frequent occurrences of the characters that the estimate treats specially.
fn text() -> impl Strategy<Value = String> {
    let special: Vec<char> = " \n\r\t'.,\"({_-=xqthEÉéłếяїъ07中的龘あア한뷁α你。’—─│→é☀😀🏽\u{200d}\u{fe0f}ก\u{301}\0"
        .chars()
        .collect();
    let char = prop_oneof![
        any::<char>(),
        prop::sample::select(special),
        prop::char::range(' ', '~')
    ];
    vec(char, 0..200).prop_map(String::from_iter)
}

fn family() -> impl Strategy<Value = TokenizerFamily> {
    prop::sample::select(TokenizerFamily::ALL)
}

proptest! {
    #[test]
    fn any_text_has_a_sensible_estimate(text in text(), family in family()) {
        let estimate = estimate_text(&text, family);
        prop_assert_eq!(estimate == 0, text.is_empty());
        prop_assert!(estimate <= 2 * text.len() as u64, "{} for {} bytes", estimate, text.len());
    }

    #[test]
    fn appending_never_lowers_the_estimate(head in text(), tail in text(), family in family()) {
        let whole = estimate_text(&format!("{head}{tail}"), family);
        prop_assert!(estimate_text(&head, family) <= whole);
    }
}

#[test]
fn no_estimate_exceeds_the_bound_for_its_length() {
    let (common, others) = ('\0'..'\u{3100}', ('\u{3100}'..=char::MAX).step_by(61));
    for c in common.chain(others) {
        for before in ["", " ", "  ", "a", "Zz", "9", "é", "\n", "("] {
            let text = format!("{before}{c}{before}{c}{c}");
            for family in TokenizerFamily::ALL {
                let estimator = HeuristicEstimator::new(*family);
                let most = estimator.text_upper_bound(text.len()).unwrap();
                assert!(estimator.text(&text) <= most, "{text:?} in {family:?}");
            }
        }
    }
}
