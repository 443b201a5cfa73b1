//! A slow model of billing with rational numbers, compared with random messages.

use agcore_catalog::price_line;
use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value, json};

#[derive(Debug, Clone)]
struct Tier {
    limit: Option<u64>,
    /// Input, output, hit, write and reasoning, in steps of 10⁻¹².
    rates: [u64; 5],
}

#[derive(Debug, Clone)]
struct Call {
    prompt: u64,
    completion: u64,
    cached: Option<u64>,
    write: Option<u64>,
    reasoning: Option<u64>,
}

fn rational(number: impl Into<BigInt>) -> BigRational {
    BigRational::from_integer(number.into())
}

/// Returns the sum of the exact prices of some tokens.
fn model(tiers: &[Tier], calls: &[Call]) -> BigRational {
    let mut sum = rational(0);
    for call in calls {
        let tier = tiers
            .iter()
            .find(|tier| tier.limit.is_none_or(|limit| call.prompt <= limit))
            .unwrap();
        let [input, output, hit, write, reasoning] = tier
            .rates
            .map(|steps| rational(steps) / rational(10_u64.pow(12)) / rational(1_000_000));
        let set = |rate: BigRational, other: &BigRational| if rate > rational(0) { rate } else { other.clone() };
        let cached = call.cached.unwrap_or(0).min(call.prompt);
        let written = call.write.unwrap_or(0).min(call.prompt - cached);
        let thought = call.reasoning.unwrap_or(0).min(call.completion);
        sum += rational(call.prompt - cached - written) * &input;
        sum += rational(cached) * set(hit, &input);
        sum += rational(written) * set(write, &input);
        sum += rational(call.completion - thought) * &output;
        sum += rational(thought) * set(reasoning, &output);
    }
    sum
}

/// Rounds to six decimals, half to even.
fn rounded(amount: &BigRational) -> String {
    let scaled = amount * rational(1_000_000);
    let (mut whole, half) = (scaled.floor().to_integer(), BigRational::new(1.into(), 2.into()));
    let rest = scaled - rational(whole.clone());
    if rest > half || rest == half && &whole % BigInt::from(2) == BigInt::from(1) {
        whole += 1;
    }
    let (units, millionths): (BigInt, BigInt) = (&whole / 1_000_000, &whole % 1_000_000);
    format!("{units}.{:0>6}", millionths.to_string())
}

fn decimal(steps: u64) -> String {
    format!("{}.{:012}", steps / 10_u64.pow(12), steps % 10_u64.pow(12))
}

fn tiers() -> impl Strategy<Value = Vec<Tier>> {
    let rate = prop_oneof![
        Just(0),
        0..10_u64,
        Just(500_000_000_000),
        any::<u64>().prop_map(|rate| rate % 10_u64.pow(15))
    ];
    let limits = vec(0..100_000_u64, 0..4);
    (limits, vec(prop::array::uniform5(rate), 5)).prop_map(|(mut limits, rates)| {
        limits.sort_unstable();
        limits.dedup();
        let limits = limits.into_iter().map(Some).chain([None]);
        limits.zip(rates).map(|(limit, rates)| Tier { limit, rates }).collect()
    })
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let tokens = || prop_oneof![0..20_u64, 0..200_000_u64, 0..10_u64.pow(12)];
    let call = (
        tokens(),
        tokens(),
        option::of(tokens()),
        option::of(tokens()),
        option::of(tokens()),
    );
    let call = call.prop_map(|(prompt, completion, cached, write, reasoning)| Call {
        prompt,
        completion,
        cached,
        write,
        reasoning,
    });
    vec(call, 0..5)
}

fn line(tiers: &[Tier], calls: &[Call]) -> Value {
    let tier = |tier: &Tier| {
        let [input, output, hit, write, reasoning] = tier.rates.map(decimal);
        json!({
            "max_prompt_tokens": tier.limit, "input": input, "output": output, "hit": hit, "write": write,
            "reasoning": reasoning,
        })
    };
    let call = |call: &Call| {
        json!({"model": "m", "provider_cost": null, "provider_currency": null, "usage": {
            "prompt_tokens": call.prompt, "completion_tokens": call.completion, "cached_tokens": call.cached,
            "cache_write_tokens": call.write, "reasoning_tokens": call.reasoning,
        }})
    };
    let tiers: Vec<Value> = tiers.iter().map(tier).collect();
    let calls: Vec<Value> = calls.iter().map(call).collect();
    json!({
        "id": "x", "session_currency": "CNY", "calls": calls,
        "prices": [{"model": "m", "currency": "CNY", "tiers": tiers}],
    })
}

fn cases() -> ProptestConfig {
    let is_soak = std::env::var_os("AGCORE_SOAK").is_some();
    ProptestConfig::with_cases(if is_soak { 100_000 } else { 500 })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn costs_are_those_of_rational_arithmetic(tiers in tiers(), calls in calls()) {
        let answer = price_line(&line(&tiers, &calls).to_string());
        prop_assert_eq!(&answer.error, &None);
        prop_assert_eq!(answer.cost, Some(rounded(&model(&tiers, &calls))));
    }

    #[test]
    fn any_text_gets_an_answer(text in ".{0,60}", number in any::<f64>()) {
        let _ = price_line(&text);
        let tiers = [Tier { limit: None, rates: [1; 5] }];
        let mut line = line(&tiers, &[]);
        line["calls"] = json!([{"model": text, "usage": {"prompt_tokens": 1, "completion_tokens": 1},
            "provider_cost": number.to_string(), "provider_currency": text}]);
        line["prices"][0]["tiers"][0]["hit"] = json!(text);
        let _ = price_line(&line.to_string());
    }
}
