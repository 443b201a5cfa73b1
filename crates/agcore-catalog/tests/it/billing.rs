//! Summaries of usage, billing profiles and totals of sessions.

use std::time::SystemTime;

use agcore_catalog::{
    BilledCall, BillingPolicy, CallUsage, Currency, PriceList, ProviderCost, SessionTotals, bill, import_prices,
};
use agcore_chat::{Amount, AnsweredBy, ChatResponse, CostSource, Money, ReportedCost, Usage};
use serde_json::json;

fn prices() -> PriceList {
    let file = json!({"m": {"mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}});
    PriceList::new(import_prices(&file.to_string()).unwrap().prices).unwrap()
}

fn call(usage: Option<Usage>) -> BilledCall {
    let mut call = BilledCall::new("m", SystemTime::UNIX_EPOCH).with_latency_ms(40);
    call.usage = usage.as_ref().map(CallUsage::from);
    call
}

#[test]
fn a_summary_adds_what_is_known() {
    let mut first = Usage::new(100, 20);
    first.completion_tokens_details.reasoning_tokens = Some(5);
    first.extra.insert("prompt_cache_hit_tokens".to_owned(), json!(60));
    first.extra.insert("prompt_cache_miss_tokens".to_owned(), json!(40));
    let mut second = Usage::new(50, 10);
    second.prompt_tokens_details.cached_tokens = Some(7);
    let cost = ProviderCost::Valid("0.25".parse().unwrap(), Currency::USD);
    let calls = [
        call(Some(first)).with_provider_cost(cost),
        call(Some(second)),
        call(None),
    ];
    let bill = bill("x", Currency::USD, &calls, &prices()).unwrap();
    let summary = serde_json::to_value(&bill.summary).unwrap();
    assert_eq!(
        summary,
        json!({
            "input_tokens": 150, "output_tokens": 30, "total_tokens": 180, "latency_ms": 120, "cached_prompt_tokens": 67,
            "prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40, "reasoning_tokens": 5, "direct_cost": "0.25",
            "direct_cost_observed": true, "direct_cost_complete": false, "model_call_records": 3, "usage_records": 2,
            "direct_cost_records": 1, "cost_source": "incomplete_usage_fallback",
        })
    );
    assert_eq!(bill.cost.unwrap().to_six_decimals(), "0.000210");
    let nothing = agcore_catalog::bill("x", Currency::USD, &[call(None)], &prices()).unwrap();
    assert_eq!((nothing.cost, nothing.summary.input_tokens), (None, None));
}

#[test]
fn a_call_is_that_of_the_model_that_answered() {
    let mut response = ChatResponse::from_text("Hi.");
    let mut usage = Usage::new(10, 5);
    usage.cost = Some(Money::from_micros(15, "USD").into());
    response.usage = Some(usage);
    let asked = BilledCall::from_response(&response, "asked", SystemTime::UNIX_EPOCH);
    assert_eq!(asked.model, "asked");
    response.answered_by = Some(AnsweredBy::new("vendor", "m"));
    let call = BilledCall::from_response(&response, "asked", SystemTime::UNIX_EPOCH);
    assert_eq!((call.provider.as_str(), call.model.as_str()), ("vendor", "m"));
    let bill = bill("x", Currency::USD, &[call], &prices()).unwrap();
    assert_eq!(
        (bill.source, bill.cost),
        (CostSource::Provider, Some(Amount::from_micros(15)))
    );
    for wrong in [
        Money::from_micros(-1, "USD").into(),
        Money::from_micros(1, "dollars").into(),
        ReportedCost::unusable("USD"),
    ] {
        assert_eq!(ProviderCost::from(Some(&wrong)), ProviderCost::Invalid);
    }
    assert_eq!(ProviderCost::from(None), ProviderCost::NotSeen);
}

#[test]
fn a_billing_profile_does_not_change() {
    let policy = BillingPolicy::default();
    let frozen = policy.profile("us").unwrap();
    let changed = policy.with_country("US", Currency::USD).unwrap();
    assert_eq!((&*frozen.currency, &*frozen.country), ("CNY", "US"));
    assert_eq!(&*changed.profile("US").unwrap().currency, "USD");
    assert_eq!(changed.currencies(), [Currency::CNY, Currency::USD]);
    for wrong in ["", "USA", "1A", "中"] {
        assert!(
            changed.profile(wrong).is_err() && BillingPolicy::default().with_country(wrong, Currency::USD).is_err()
        );
    }
}

#[test]
fn totals_count_what_is_missing() {
    let mut totals = SessionTotals::new(Currency::USD);
    let of = |calls: &[BilledCall], currency| bill("x", currency, calls, &prices()).unwrap();
    totals
        .add("a", &of(&[call(Some(Usage::new(100, 0)))], Currency::USD))
        .unwrap();
    totals
        .add("b", &of(&[call(Some(Usage::new(100, 0))), call(None)], Currency::USD))
        .unwrap();
    totals.add("c", &of(&[call(None)], Currency::USD)).unwrap();
    let mut unpriced = call(Some(Usage::new(1, 1)));
    unpriced.model = "other".to_owned();
    totals.add("d", &of(&[unpriced], Currency::USD)).unwrap();
    assert_eq!(totals.cost.to_six_decimals(), "0.000200");
    assert_eq!((totals.messages, totals.unknown, totals.incomplete), (4, 2, 1));
    let before = totals.clone();
    let error = totals.add("e", &of(&[], Currency::CNY)).unwrap_err().to_string();
    assert!(error.contains("\"e\"") && error.contains("CNY"), "{error}");
    assert_eq!(totals, before);
}

/// Ten calls that each cost less than half a millionth would be free of charge if each of them was rounded.
#[test]
fn reported_costs_are_rounded_once() {
    let call = |cost: &str| {
        let mut response = ChatResponse::from_text("Hi.");
        let mut usage = Usage::new(1, 1);
        usage.cost = Some(ReportedCost::new(cost.parse().unwrap(), "USD"));
        response.usage = Some(usage);
        BilledCall::from_response(&response, "m", SystemTime::UNIX_EPOCH)
    };
    let calls: Vec<_> = (0..10).map(|_| call("0.0000004")).collect();
    let bill = bill("x", Currency::USD, &calls, &prices()).unwrap();
    assert_eq!(bill.source, CostSource::Provider);
    assert_eq!(bill.cost.unwrap().to_six_decimals(), "0.000004");
}
