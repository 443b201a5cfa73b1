//! The community's price file.

use agcore_catalog::{PriceImport, import_prices};
use serde_json::{Value, json};

#[track_caller]
fn import(file: Value) -> PriceImport {
    import_prices(&file.to_string()).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Returns the limit, input, output, hit and write of each tier.
fn tiers(import: &PriceImport) -> Vec<String> {
    let tiers = import.prices[0].tiers.tiers().iter();
    tiers
        .map(|tier| {
            let output = tier.output.map(|rate| rate.to_string()).unwrap_or_default();
            format!(
                "{:?} {} {output} {} {}",
                tier.max_prompt_tokens, tier.input, tier.hit, tier.write
            )
        })
        .collect()
}

#[test]
fn rates_become_those_of_a_million_tokens() {
    let found = import(json!({
        "sample_spec": {"input_cost_per_token": "a description"},
        "m": {
            "mode": "chat", "litellm_provider": "x", "max_tokens": 8192, "input_cost_per_token": 1.5e-7,
            "output_cost_per_token": 6e-7, "cache_read_input_token_cost": 0.000000015,
            "cache_creation_input_token_cost": 1.875e-7, "supports_vision": true,
        },
    }));
    assert_eq!(tiers(&found), ["None 0.15 0.6 0.015 0.1875"]);
    assert!(found.skipped.is_empty() && found.zeros.is_empty());
}

#[test]
fn rates_above_a_length_become_tiers() {
    let found = import(json!({"m": {
        "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "cache_read_input_token_cost": 1e-7,
        "input_cost_per_token_above_200k_tokens": 3e-6, "output_cost_per_token_above_200k_tokens": 4e-6,
    }}));
    assert_eq!(tiers(&found), ["Some(200000) 1 2 0.1 0", "None 3 4 0.1 0"]);
    let found = import(json!({"m": {"mode": "chat", "tiered_pricing": [
        {"range": [0, 32000.0], "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6},
        {"range": [32000, 1e6], "input_cost_per_token": 3e-6, "output_cost_per_token": 4e-6},
    ]}}));
    assert_eq!(tiers(&found), ["Some(32000) 1 2 0 0", "None 3 4 0 0"]);
}

#[test]
fn rates_of_zero_are_reported() {
    let found = import(json!({"m": {
        "mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0.0, "cache_read_input_token_cost": 0.0,
        "output_cost_per_reasoning_token": 0,
    }}));
    // Input and output are free; the others follow them.
    assert_eq!(
        found.zeros,
        ["m.cache_read_input_token_cost", "m.output_cost_per_reasoning_token"]
    );
}

#[test]
fn models_that_cannot_be_read_are_skipped_with_a_reason() {
    let found = import(json!({
        "fine": {"mode": "embedding", "input_cost_per_token": 1e-8},
        "list": [],
        "nothing": {"mode": "chat"},
        "no-output": {"mode": "chat", "input_cost_per_token": 1e-6},
        "negative": {"input_cost_per_token": -1e-6, "output_cost_per_token": 1e-6},
        "precise": {"input_cost_per_token": 1.23456789e-12, "output_cost_per_token": 1e-6},
        "text": {"input_cost_per_token": "free", "output_cost_per_token": 1e-6},
        "tiers": {"tiered_pricing": [{"range": [5, 1], "input_cost_per_token": 1, "output_cost_per_token": 1},
            {"range": [1, 0], "input_cost_per_token": 1e-6}]},
    }));
    assert_eq!(found.prices.len(), 1);
    let fields: Vec<&str> = found.skipped.iter().map(agcore_catalog::Problem::field).collect();
    assert_eq!(
        fields,
        [
            "list.entry",
            "negative.input_cost_per_token",
            "no-output.output_cost_per_token",
            "nothing.input_cost_per_token",
            "precise.input_cost_per_token",
            "text.input_cost_per_token",
            "tiers.output_cost_per_token",
        ]
    );
    for text in ["", "[]", "null", "{"] {
        assert!(import_prices(text).is_err(), "{text}");
    }
}
