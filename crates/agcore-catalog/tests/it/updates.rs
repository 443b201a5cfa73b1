//! Updates of a snapshot from public price lists: what a list does not state, and what it must not change.

use agcore_catalog::{ModelPrice, Problem, Snapshot, SourceFormat};
use serde_json::{Value, json};

use crate::snapshot::{changes, import, parse};

/// Returns the prices of the model `m` by class, each with its tiers as JSON would show them.
fn prices(snapshot: &Snapshot) -> Vec<String> {
    let tiers = |price: &ModelPrice| {
        let tiers = price.tiers.tiers().iter();
        let shown = tiers.map(|tier| {
            let output = tier.output.unwrap_or_default();
            let limit = tier.max_prompt_tokens.unwrap_or(0);
            let Value::String(rates) = json!(format!("{limit}: {}/{output}", tier.input)) else {
                return String::new();
            };
            format!("{rates} hit {} write {} {}", tier.hit, tier.write, tier.write_long)
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    let model = snapshot.model("openai", "m").unwrap();
    let prices = model.model.prices.iter();
    prices
        .map(|price| {
            format!(
                "{}: {}",
                price.service_class.as_deref().unwrap_or("standard"),
                tiers(price)
            )
        })
        .collect()
}

#[test]
fn image_models_have_no_rates_of_text_in_other_classes() {
    let base = parse(&[]);
    let entry = |mode: &str, member: &str, rate: f64| {
        json!({
            "litellm_provider": "openai", "mode": mode, "input_cost_per_token": 2e-6, "output_cost_per_token": 1.2e-5,
            member: rate, "input_cost_per_token_batches": 1e-6, "output_cost_per_token_batches": 6e-6,
            "input_cost_per_token_flex": 1e-6, "output_cost_per_token_flex": 6e-6, format!("{member}_flex"): rate / 2.0,
        })
    };
    let read = |entry: Value| {
        let list = json!({"m": entry});
        prices(&import(&base, SourceFormat::LiteLlm, &list).unwrap().snapshot)
    };
    let [standard, flex] = ["standard: 0: 2/120", "flex: 0: 1/60"].map(|price| format!("{price} hit 0 write 0 0"));
    let image = entry("image_generation", "output_cost_per_image_token", 1.2e-4);
    assert_eq!(read(image), [standard, flex]);
    // Where both have the same rate, the other classes state only one of them.
    let speech = entry("audio_speech", "output_cost_per_audio_token", 1.2e-5);
    assert_eq!(read(speech).len(), 3);
    // Without the rate of what it generates, a class has no price.
    let mut unstated = entry("image_generation", "output_cost_per_image_token", 1.2e-4);
    unstated
        .as_object_mut()
        .unwrap()
        .remove("output_cost_per_token_batches");
    assert_eq!(read(unstated).len(), 2);
}

#[test]
fn the_tiers_of_models_dev_are_read() {
    let base = parse(&[]);
    let read = |cost: Value| {
        let list = json!({"openai": {"models": {"m": {"cost": cost}}}});
        import(&base, SourceFormat::ModelsDev, &list).map(|import| prices(&import.snapshot))
    };
    let tier = |size: u64, input: u32| json!({"input": input, "output": 9, "cache_read": 0.5, "tier": {"type": "context", "size": size}});
    // The limit in the older member is always the same, so that the tiers come first.
    let both =
        json!({"input": 5, "output": 8, "tiers": [tier(272_000, 10)], "context_over_200k": {"input": 10, "output": 9}});
    let expected = ["standard: 272000: 5/8 hit 0 write 0 0, 0: 10/9 hit 0.5 write 0 0"];
    assert_eq!(read(both).unwrap(), expected);
    let three = json!({"input": 1, "output": 2, "tiers": [tier(256_000, 4), tier(128_000, 3)]});
    let expected = ["standard: 128000: 1/2 hit 0 write 0 0, 256000: 3/9 hit 0.5 write 0 0, 0: 4/9 hit 0.5 write 0 0"];
    assert_eq!(read(three).unwrap(), expected);
    let older = json!({"input": 5, "output": 8, "tiers": [], "context_over_200k": {"input": 10, "output": 9}});
    assert_eq!(
        read(older).unwrap(),
        ["standard: 200000: 5/8 hit 0 write 0 0, 0: 10/9 hit 0 write 0 0"]
    );
}

#[test]
fn tiers_that_cannot_be_expressed_leave_the_price_out() {
    let base = parse(&[r#"{"id":"m","src":"s","prices":{"standard":[{"input":1,"output":2}]}}"#]);
    for tiers in [
        json!([{"input": 1, "output": 2, "tier": {"type": "time", "size": 5}}]),
        json!([{"input": 1, "output": 2, "tier": {"type": "context"}}]),
        json!([{"input": 1, "output": 2}]),
        json!([{"output": 2, "tier": {"type": "context", "size": 5}}]),
        json!(["x"]),
        json!({"a": 1}),
    ] {
        let cost = json!({"input": 5, "output": 8, "tiers": tiers});
        let list = json!({"openai": {"models": {"m": {"cost": cost}}}});
        let read = import(&base, SourceFormat::ModelsDev, &list).unwrap();
        let fields: Vec<&str> = read.skipped.iter().map(Problem::field).collect();
        assert_eq!(fields, ["m.tiers"], "{tiers}");
        assert_eq!(prices(&read.snapshot), ["standard: 0: 1/2 hit 0 write 0 0"], "{tiers}");
    }
    let negative = json!([{"input": -1, "output": 2, "tier": {"type": "context", "size": 5}}]);
    let cost = json!({"input": 5, "output": 8, "tiers": negative});
    let list = json!({"openai": {"models": {"m": {"cost": cost}}}});
    assert!(import(&base, SourceFormat::ModelsDev, &list).is_err());
}

/// A row with rates that models.dev does not state.
const RICH: &str = r#"{"id":"m","window":200000,"max":8000,"can":"tools caching","retires":"2027-05-01","src":"s","prices":{"standard":[{"input":3,"output":15,"hit":0.3,"write":3.75,"write_long":6}],"batch":[{"input":1.5,"output":7.5}]}}"#;

#[test]
fn an_update_keeps_what_the_list_does_not_state() {
    let base = parse(&[RICH]);
    let dev = |cost: Value, limit: Value| json!({"openai": {"models": {"m": {"cost": cost, "limit": limit}}}});
    // Only the rate of reads from the cache and the context are others.
    let list = dev(
        json!({"input": 3, "output": 15, "cache_read": 0.25, "cache_write": 3.75}),
        json!({"context": 400_000}),
    );
    let read = import(&base, SourceFormat::ModelsDev, &list).unwrap().snapshot;
    let kept = [
        "standard: 0: 3/15 hit 0.25 write 3.75 6",
        "batch: 0: 1.5/7.5 hit 0 write 0 0",
    ];
    assert_eq!(prices(&read), kept);
    let model = read.model("openai", "m").unwrap();
    assert_eq!(
        (model.model.context_window, model.model.max_output_tokens),
        (Some(400_000), Some(8000))
    );
    assert_eq!(
        (model.retires.as_deref(), model.source.as_str()),
        (Some("2027-05-01"), "new")
    );
    let list = dev(json!({"input": 3, "output": 15, "cache_read": 0.25}), json!({}));
    assert_eq!(
        prices(&import(&base, SourceFormat::ModelsDev, &list).unwrap().snapshot),
        kept
    );
}

#[test]
fn rates_that_belong_to_an_older_price_are_reported_as_gone() {
    let base = parse(&[RICH]);
    let list = json!({"openai": {"models": {"m": {"cost": {"input": 2, "output": 10, "cache_read": 0.2}}}}});
    let read = import(&base, SourceFormat::ModelsDev, &list).unwrap().snapshot;
    assert_eq!(prices(&read), ["standard: 0: 2/10 hit 0.2 write 0 0"]);
    assert_eq!(
        changes(&base, SourceFormat::ModelsDev, &list),
        ["~ openai/m: 3/15 USD -> 2/10 USD, without write, write_long, batch"]
    );
}

#[test]
fn a_price_of_0_leaves_out_its_row_only() {
    let row = |name: &str| format!(r#"{{"id":"{name}","src":"s","prices":{{"standard":[{{"input":1,"output":2}}]}}}}"#);
    let base = parse(&[&row("m"), &row("n")]);
    let free = json!({"openai": {"models": {
        "m": {"cost": {"input": 0, "output": 0}}, "n": {"cost": {"input": 3, "output": 4}},
    }}});
    let entry = |input: f64, output: f64| {
        json!({
            "litellm_provider": "openai", "mode": "chat", "input_cost_per_token": input, "output_cost_per_token": output,
        })
    };
    let other = json!({"m": entry(0.0, 0.0), "n": entry(3e-6, 4e-6)});
    for (format, list) in [(SourceFormat::ModelsDev, &free), (SourceFormat::LiteLlm, &other)] {
        let read = import(&base, format, list).unwrap();
        let shown: Vec<String> = read.skipped.iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 1, "{shown:?}");
        assert!(shown[0].starts_with("openai.m.prices: "), "{shown:?}");
        assert!(shown[0].contains("the model costs money by now"), "{shown:?}");
        assert_eq!(prices(&read.snapshot), ["standard: 0: 1/2 hit 0 write 0 0"]);
        assert_eq!(read.snapshot.model("openai", "m").unwrap().source, "s");
        assert_eq!(changes(&base, format, list), ["~ openai/n: 1/2 USD -> 3/4 USD"]);
    }
}
