//! [`CatalogBiller`]: the cost that is stored with a message.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_catalog::{Catalog, CatalogBiller, Format, ListPrices};
use agcore_chat::{AnsweredBy, Bill, Biller, CostSource, ModelCall, Money, PriceFn, PriceQuery, Usage};

const CATALOG: &str = r#"
[[vendors]]
name = "somebody"
endpoints = [{ name = "chat", api = "openai", kinds = ["text"], currency = "CNY" }]
keys = [{ name = "team", secret = "${KEY}", users = ["*"] }]

[[vendors.models]]
name = "cheap"
prices = [
    { currency = "CNY", version = "old", until = "2026-01-01T00:00:00Z", tiers = [{ input = "1", output = "1" }] },
    { currency = "CNY", version = "new", from = "2026-01-01T00:00:00Z", tiers = [{ input = "0.3", output = "0" }] },
]

[[vendors.models]]
name = "dear"
prices = [{ currency = "CNY", tiers = [{ input = "300", output = "0" }] }]

[[vendors]]
name = "dollars"
endpoints = [{ name = "chat", api = "openai", kinds = ["text"] }]
keys = [{ name = "team", secret = "${KEY}", users = ["*"] }]
models = [{ name = "abroad", prices = [{ currency = "USD", tiers = [{ input = "1", output = "1" }] }] }]
"#;

fn biller() -> CatalogBiller {
    CatalogBiller::new(Catalog::parse("models.toml", Format::Toml, CATALOG).unwrap())
}

/// Returns a call in the summer of 2026.
fn call(provider: &str, model: &str, tokens: u64) -> ModelCall {
    let sent_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000);
    ModelCall::new(AnsweredBy::new(provider, model), sent_at).with_usage(Usage::new(tokens, 0))
}

fn billed(currency: Option<&str>, calls: &[ModelCall]) -> Bill {
    biller().bill("m", currency, calls).unwrap()
}

/// Returns the millionths of a bill and of its calls.
fn micros(bill: &Bill) -> (Option<i64>, Vec<Option<i64>>) {
    let of = |cost: &Option<Money>| cost.as_ref().map(|cost| cost.micros);
    (of(&bill.cost), bill.calls.iter().map(|call| of(&call.cost)).collect())
}

#[test]
fn each_call_has_the_price_of_the_model_that_answered() {
    let bill = billed(
        Some("CNY"),
        &[call("somebody", "dear", 10), call("somebody", "cheap", 10)],
    );
    assert_eq!(micros(&bill), (Some(3_003), vec![Some(3_000), Some(3)]));
    assert_eq!(bill.usage.cost_source, Some(CostSource::CatalogFallback));
    assert_eq!(bill.calls[1].price_version.as_deref(), Some("new"));

    // The name in the reply comes before the one that was asked for, and a vendor may have another name in the catalog.
    let mut renamed = call("openai", "gateway-model", 10);
    renamed.reported_model = Some("dear".into());
    assert_eq!(micros(&billed(Some("CNY"), &[renamed])).0, Some(3_000));
}

#[test]
fn the_price_is_that_of_the_time_of_the_call() {
    let mut old = call("somebody", "cheap", 10);
    old.sent_at_ms = 1_700_000_000_000;
    let bill = billed(Some("CNY"), &[old]);
    assert_eq!(
        (micros(&bill).0, bill.calls[0].price_version.as_deref()),
        (Some(10), Some("old"))
    );
}

#[test]
fn parts_add_up_to_the_whole_that_is_rounded_once() {
    // 0.3 millionths each: alone they are rounded to 0, together to 3.
    let calls = vec![call("somebody", "cheap", 1); 9];
    let bill = billed(Some("CNY"), &calls);
    let (whole, parts) = micros(&bill);
    assert_eq!(whole, Some(3));
    assert_eq!(parts.iter().flatten().sum::<i64>(), 3);
    // 0.6 each: rounded up, they would exceed the whole.
    let (whole, parts) = micros(&billed(Some("CNY"), &vec![call("somebody", "cheap", 2); 9]));
    assert_eq!((whole, parts.iter().flatten().sum::<i64>()), (Some(5), 5));
    assert!(parts.iter().flatten().all(|part| *part >= 0), "{parts:?}");
}

#[test]
fn a_model_without_a_price_in_the_currency_makes_the_cost_unknown() {
    for other in ["abroad", "unheard-of"] {
        let bill = billed(Some("CNY"), &[call("somebody", "dear", 10), call("dollars", other, 10)]);
        assert_eq!(micros(&bill), (None, vec![None, None]), "{other}");
        assert_eq!(bill.usage.cost_source, Some(CostSource::Unpriced));
    }
}

#[test]
fn unknown_usage_is_priced_in_part() {
    let mut unknown = call("somebody", "dear", 0);
    unknown.usage = None;
    let bill = billed(Some("CNY"), &[unknown, call("somebody", "dear", 10)]);
    assert_eq!(micros(&bill), (Some(3_000), vec![None, Some(3_000)]));
    assert_eq!(bill.usage.cost_source, Some(CostSource::IncompleteUsageFallback));
}

/// Returns a call whose server reported a cost in dollars.
fn reported(provider: &str, model: &str, micros: i64) -> ModelCall {
    let mut call = call(provider, model, 10);
    call.usage.as_mut().unwrap().cost = Some(Money::from_micros(micros, "USD").into());
    call
}

#[test]
fn a_reported_cost_is_in_the_currency_of_the_endpoint() {
    let bill = billed(Some("CNY"), &[reported("somebody", "dear", 7)]);
    assert_eq!(
        (micros(&bill).0, bill.usage.cost_source),
        (Some(7), Some(CostSource::Provider))
    );
    let bill = billed(Some("CNY"), &[reported("dollars", "abroad", 7)]);
    assert_eq!((bill.cost, bill.usage.cost_source), (None, Some(CostSource::Unpriced)));
}

#[test]
fn without_a_currency_only_reported_costs_are_known() {
    let bill = billed(None, &[reported("dollars", "abroad", 7)]);
    assert_eq!(bill.cost, Some(Money::from_micros(7, "USD")));
    assert_eq!(billed(None, &[call("somebody", "dear", 10)]).cost, None);
    let none = CatalogBiller::without_catalog();
    let bill = none
        .bill("m", Some("USD"), &[reported("openrouter", "any", 7)])
        .unwrap();
    assert_eq!(bill.cost, Some(Money::from_micros(7, "USD")));
}

#[test]
fn what_does_not_fit_is_an_error_with_the_id() {
    let fault = biller()
        .bill("m-17", Some("CNY"), &[call("somebody", "dear", u64::MAX)])
        .unwrap_err();
    assert_eq!(fault.message, "m-17");
    assert!(fault.to_string().contains("does not fit"), "{fault}");
    assert!(
        biller()
            .bill("m", Some("RMB"), &[])
            .unwrap_err()
            .reason
            .contains("ISO 4217")
    );
}

#[test]
fn a_budget_and_a_bill_take_the_same_price() {
    let listed = crate::snapshot::parse(&[
        r#"{"id":"abroad","src":"s","prices":{"standard":[{"input":9,"output":9}]}}"#,
        r#"{"id":"listed","src":"s","prices":{"standard":[{"input":5,"output":5}]}}"#,
    ]);
    let catalog = Catalog::parse("models.toml", Format::Toml, CATALOG).unwrap();
    let catalog = Arc::new(catalog.with_list(ListPrices::by_name(listed.into())));
    for (provider, model, expected) in [
        ("dollars", "abroad", Some(1_000_000)),
        // A server names the version that has answered.
        ("dollars", "abroad-2026-01-01", Some(1_000_000)),
        ("openai", "abroad-2026-01-01", Some(1_000_000)),
        // Only one vendor of the catalog has the model.
        ("gateway", "abroad", Some(1_000_000)),
        ("openai", "listed", Some(5_000_000)),
        ("openai", "listed-2026-01-01", Some(5_000_000)),
        ("gateway", "listed", None),
        ("dollars", "unknown", None),
    ] {
        let mut call = call(provider, "alias", 1_000_000);
        call.reported_model = Some(model.into());
        let usage = Usage::new(1_000_000, 0);
        let mut query = PriceQuery::new(model, &usage, call.sent_at());
        (query.provider, query.currency) = (provider, Some("USD"));
        let budget = PriceFn::from(catalog.prices().clone())(&query).and_then(|price| price.money());
        let bill = CatalogBiller::new(Arc::clone(&catalog))
            .bill("m", Some("USD"), &[call])
            .unwrap();
        let found = (budget.map(|money| money.micros), bill.cost.map(|money| money.micros));
        assert_eq!(found, (expected, expected), "{provider} {model}");
    }
}
