//! Price lists: versions, hours, service classes, currencies, and the prices of budgets.

use std::time::{Duration, SystemTime};

use agcore_catalog::{BilledCall, CallUsage, Currency, DailyHours, ModelPrice, PriceList, Rate, Tier, TierTable, bill};
use agcore_chat::{CostSource, PriceFn, PriceQuery, Usage};
use serde_json::json;

fn rate(text: &str) -> Rate {
    Rate::parse("rate", text).unwrap()
}

fn price(input: &str) -> ModelPrice {
    let tiers = TierTable::new(vec![Tier::new(None, rate(input), Some(rate("0")))]).unwrap();
    ModelPrice::new("m", Currency::CNY, tiers)
}

fn day(days: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400)
}

/// Returns the cost of a million tokens of input.
fn cost(prices: &[ModelPrice], change: impl FnOnce(BilledCall) -> BilledCall) -> Option<String> {
    let prices = PriceList::new(prices.iter().cloned()).unwrap();
    let usage = CallUsage::from(&Usage::new(1_000_000, 0));
    let call = change(BilledCall::new("m", day(10)).with_usage(usage));
    let bill = bill("x", Currency::CNY, &[call], &prices).unwrap();
    bill.cost.map(|cost| cost.to_string())
}

#[test]
fn the_version_in_force_when_the_request_was_sent_counts() {
    let prices = [
        price("1").with_version("old", None, None),
        price("2").with_version("may", Some(day(5)), None),
        price("3").with_version("june", Some(day(10)), Some(day(20))),
    ];
    for (at, expected) in [(0, "1"), (4, "1"), (5, "2"), (9, "2"), (10, "3"), (19, "3"), (20, "2")] {
        let found = cost(&prices, |call| {
            BilledCall::new("m", day(at)).with_usage(call.usage.unwrap())
        });
        assert_eq!(found.as_deref(), Some(expected), "day {at}");
    }
    let ended = [price("1").with_version("old", None, Some(day(10)))];
    assert_eq!(cost(&ended, |call| call), None);
}

#[test]
fn hours_have_precedence_over_the_whole_day() {
    let night = DailyHours::parse("hours", "16:30-00:30").unwrap();
    let prices = [price("4"), price("1").with_hours(night)];
    for (minute, expected) in [(0, "1"), (29, "1"), (30, "4"), (16 * 60 + 29, "4"), (16 * 60 + 30, "1")] {
        let at = day(3) + Duration::from_secs(minute * 60);
        let found = cost(&prices, |call| BilledCall::new("m", at).with_usage(call.usage.unwrap()));
        assert_eq!(found.as_deref(), Some(expected), "minute {minute}");
    }
    for wrong in [
        "",
        "16:30",
        "16:30-16:30",
        "24:00-01:00",
        "1:00-2:00",
        "01:60-02:00",
        "01:00-02:00-03:00",
        "+1:00-02:00",
    ] {
        assert!(DailyHours::parse("hours", wrong).is_err(), "{wrong}");
    }
}

#[test]
fn service_classes_and_providers_have_prices_of_their_own() {
    let prices = [
        price("4"),
        price("2").with_service_class("flex"),
        price("9").with_provider("reseller"),
    ];
    for (class, expected) in [
        ("default", Some("4")),
        ("standard", Some("4")),
        ("flex", Some("2")),
        ("priority", None),
    ] {
        let found = cost(&prices, |call| call.with_service_class(class));
        assert_eq!(found.as_deref(), expected, "{class}");
    }
    let found = cost(&prices, |mut call| {
        call.provider = "reseller".to_owned();
        call
    });
    assert_eq!(found.as_deref(), Some("9"));
}

#[test]
fn two_prices_for_the_same_calls_are_refused() {
    let hours = |text| DailyHours::parse("hours", text).unwrap();
    for (one, other, is_refused) in [
        (price("1"), price("2"), true),
        (price("1"), price("1").with_service_class("flex"), false),
        (price("1"), price("1").with_provider("p"), false),
        (price("1"), price("1").with_version("v", Some(day(1)), None), false),
        (price("1"), price("1").with_hours(hours("01:00-02:00")), false),
        (
            price("1").with_hours(hours("01:00-03:00")),
            price("1").with_hours(hours("02:59-04:00")),
            true,
        ),
        (
            price("1").with_hours(hours("01:00-03:00")),
            price("1").with_hours(hours("03:00-01:00")),
            false,
        ),
    ] {
        assert_eq!(PriceList::new([one, other]).is_err(), is_refused);
    }
    let many = (0..10_000).map(|number| {
        let tiers = TierTable::new(vec![Tier::new(None, rate("1"), None)]).unwrap();
        ModelPrice::new(format!("model-{number}"), Currency::USD, tiers)
    });
    let list = PriceList::new(many).unwrap();
    assert!(list.has_price("model-9999", Currency::USD) && !list.has_price("model-9999", Currency::CNY));
}

#[test]
fn budgets_ask_for_the_model_that_answered() {
    let mut other = price("5").with_version("list of May", None, None);
    other.model = "fallback".to_owned();
    let price_of = PriceFn::from(PriceList::new([price("4"), other]).unwrap());
    let usage = Usage::new(1_000_000, 0);
    let asked = PriceQuery::new("fallback", &usage, day(1));
    let found = price_of(&asked).unwrap();
    assert_eq!(
        (found.money().unwrap().to_string().as_str(), found.source.as_deref()),
        ("5.000000 CNY", Some("list of May"))
    );
    assert!(price_of(&asked.with_currency(Some("CNY"))).is_some());
    assert!(price_of(&asked.with_currency(Some("USD"))).is_none());
    assert!(price_of(&asked.with_service_tier(Some("flex"))).is_none());
    assert!(price_of(&PriceQuery::new("unknown", &usage, day(1))).is_none());
    let unknown = Usage::default();
    assert!(price_of(&PriceQuery::new("m", &unknown, day(1))).is_none());
}

#[test]
fn all_dimensions_are_terms_of_one_sum() {
    let mut tier = Tier::new(None, rate("1"), Some(rate("2")));
    (tier.write, tier.write_long) = (rate("3"), rate("4"));
    (tier.audio_input, tier.audio_output) = (rate("5"), rate("6"));
    (tier.request, tier.image, tier.second) = (rate("0.01"), rate("0.04"), rate("0.002"));
    (tier.minute, tier.characters) = (rate("0.06"), rate("15"));
    (tier.search, tier.document) = (rate("0.002"), rate("0.0001"));
    let mut price = price("1");
    price.tiers = TierTable::new(vec![tier]).unwrap();
    let found = cost(&[price], |mut call| {
        let usage = call.usage.as_mut().unwrap();
        usage.completion_tokens = Some(1_000_000);
        (usage.cache_write_tokens, usage.cache_write_long_tokens) = (Some(300_000), Some(100_000));
        (usage.audio_input_tokens, usage.audio_output_tokens) = (Some(200_000), Some(500_000));
        (usage.images, usage.milliseconds) = (Some(2), Some(1_500));
        (usage.characters, usage.searches, usage.documents) = (Some(2_000), Some(3), Some(40));
        call
    });
    // 0.5 + 0.2 * 3 + 0.1 * 4 + 0.2 * 5 + 0.5 * 2 + 0.5 * 6 + 0.01 + 2 * 0.04 + 1.5 * 0.002
    // + 0.025 * 0.06 + 0.002 * 15 + 3 * 0.002 + 40 * 0.0001
    assert_eq!(found.as_deref(), Some("6.6345"));
}

#[test]
fn models_that_do_not_chat_are_priced_by_their_units() {
    let check = |set: fn(&mut Tier), name: &str, value: serde_json::Value, expected: &str| {
        let mut tier = Tier::new(None, rate("0"), None);
        set(&mut tier);
        let mut price = price("1");
        price.tiers = TierTable::new(vec![tier]).unwrap();
        let mut usage = Usage::default();
        usage.extra.insert(name, value.clone());
        let call = BilledCall::new("m", day(1)).with_usage(CallUsage::from(&usage));
        let bill = bill("x", Currency::CNY, &[call], &PriceList::new([price]).unwrap()).unwrap();
        assert_eq!(bill.source, CostSource::CatalogFallback, "{name}: {value}");
        assert_eq!(bill.cost.unwrap().to_six_decimals(), expected, "{name}: {value}");
    };
    check(|tier| tier.image = rate("0.04"), "image_count", 3.into(), "0.120000");
    check(|tier| tier.minute = rate("0.006"), "seconds", 90.into(), "0.009000");
    // A third of a cent cannot be written exactly.
    check(|tier| tier.minute = rate("0.01"), "duration", 20.into(), "0.003333");
    check(
        |tier| tier.second = rate("0.1"),
        "video_duration",
        json!(5.25),
        "0.525000",
    );
    check(
        |tier| tier.characters = rate("15"),
        "characters",
        1_234.into(),
        "0.018510",
    );
    check(|tier| tier.search = rate("0.002"), "search_units", 2.into(), "0.004000");
}

#[test]
fn a_price_without_output_cannot_price_generated_tokens() {
    let tiers = TierTable::new(vec![Tier::new(None, rate("1"), None)]).unwrap();
    let prices = PriceList::new([ModelPrice::new("embed", Currency::CNY, tiers)]).unwrap();
    let call = |completion| BilledCall::new("embed", day(1)).with_usage(CallUsage::from(&Usage::new(10, completion)));
    assert!(bill("x", Currency::CNY, &[call(0)], &prices).is_ok());
    let error = bill("message-7", Currency::CNY, &[call(1)], &prices)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("message-7") && error.contains("no rate for output"),
        "{error}"
    );
}

#[test]
fn prices_of_single_calls_are_exact() {
    let prices: PriceFn = PriceList::new([price("0.4")]).unwrap().into();
    let usage = Usage::new(1, 0);
    let found = prices(&PriceQuery::new("m", &usage, day(0))).unwrap();
    assert_eq!(
        (found.amount.to_string().as_str(), &*found.currency),
        ("0.0000004", "CNY")
    );
    assert_eq!(found.money().unwrap().micros, 0);
}
