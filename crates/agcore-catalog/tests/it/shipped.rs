//! The snapshot that the library ships: every row, and the prices of well-known models.

use std::{collections::BTreeSet, time::SystemTime};

use agcore_catalog::{
    Catalog, CatalogBiller, Format, ListPrices, ModelKind, PriceList, Rate, Snapshot, SnapshotModel, Tier,
};
use agcore_chat::{AnsweredBy, Biller, ModelCall, PriceFn, PriceQuery, Usage};

/// The text of the file, as it is in the repository.
const TEXT: &str = include_str!("../../snapshot/shipped.jsonl");

fn rows(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &SnapshotModel)> {
    let vendors = snapshot.vendors();
    vendors.flat_map(|vendor| {
        snapshot
            .models(&vendor.name)
            .iter()
            .map(|row| (vendor.name.as_str(), row))
    })
}

#[test]
fn every_row_can_be_read() {
    let snapshot = Snapshot::parse("shipped.jsonl", TEXT).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Snapshot::shipped().as_text(), snapshot.as_text());
    let (vendors, models) = (snapshot.vendors().count(), rows(&snapshot).count());
    assert!(vendors >= 14 && models >= 300, "{vendors} vendors, {models} models");
    // Lazy readers leave out rows that are wrong; there are none.
    assert_eq!(rows(&Snapshot::shipped()).count(), models);
    assert!(TEXT.len() <= 400_000, "{} bytes", TEXT.len());
    for source in snapshot.sources() {
        assert_eq!(source.license, "MIT");
        assert!(source.copyright.starts_with("Copyright"), "{source:?}");
    }
    let known: BTreeSet<&str> = snapshot.sources().iter().map(|source| source.key.as_str()).collect();
    assert!(rows(&snapshot).all(|(_, row)| known.contains(row.source.as_str())));
}

#[test]
fn rows_are_sorted_and_none_is_there_twice() {
    let snapshot = Snapshot::shipped();
    let names: Vec<(&str, &str)> = rows(&snapshot).map(|(vendor, row)| (vendor, row.name())).collect();
    assert!(names.is_sorted(), "sort the rows with `cargo xtask catalog`");
    for vendor in snapshot.vendors() {
        let names = snapshot.models(&vendor.name).iter().flat_map(SnapshotModel::names);
        let names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            names.len(),
            "{}",
            vendor.name
        );
    }
}

#[test]
fn prices_are_plausible() {
    let most = Rate::parse("rate", "2000").unwrap();
    let check = |place: &str, tier: &Tier| {
        assert!(tier.hit <= tier.input, "{place}: a hit is dearer than the input");
        let rates = [
            tier.input,
            tier.output.unwrap_or_default(),
            tier.reasoning,
            tier.audio_input,
            tier.audio_output,
        ];
        assert!(rates.iter().all(|rate| *rate <= most), "{place}: {tier:?}");
        assert!(
            tier.write_long >= tier.write || tier.write_long.is_zero(),
            "{place}: {tier:?}"
        );
    };
    for (vendor, row) in rows(&Snapshot::shipped()) {
        let place = format!("{vendor}/{}", row.name());
        let standard = row.model.prices.iter().find(|price| price.service_class.is_none());
        for price in &row.model.prices {
            assert_eq!(price.version.as_deref(), Some(Snapshot::shipped().id()), "{place}");
            let tiers = price.tiers.tiers();
            tiers.iter().for_each(|tier| check(&place, tier));
            let rises = tiers.windows(2).all(|pair| pair[0].input <= pair[1].input);
            assert!(rises, "{place}: long prompts are cheaper");
            let class = price.service_class.as_deref().unwrap_or("standard");
            assert!(
                ["standard", "batch", "flex", "priority"].contains(&class),
                "{place}: {class}"
            );
            let standard = &standard.expect("a row with prices has the standard one").tiers.tiers()[0];
            let (dear, cheap) = (class == "priority", class == "batch" || class == "flex");
            assert!(!dear || tiers[0].input >= standard.input, "{place}: priority");
            assert!(!cheap || tiers[0].input <= standard.input, "{place}: {class}");
        }
        // Nothing is free unless the row says so. Old models of Perplexity have a fee for each request, and free input.
        let is_free = |tier: &Tier| {
            tier.input.is_zero() && tier.output.is_none_or(Rate::is_zero) && tier.units().next().is_none()
        };
        let is_free = standard.is_some_and(|price| price.tiers.tiers().iter().all(is_free));
        assert_eq!(is_free, row.is_free, "{place}");
        let window = row.model.context_window.unwrap_or(1);
        assert!((1..=100_000_000).contains(&window), "{place}: {window}");
    }
}

/// Vendor, model, input, output, cache read and cache write for a million tokens in USD. Both sources state them; they were
/// compared by hand on 2026-11-30. Check a change against the price list of the vendor.
const WELL_KNOWN: [(&str, &str, &str, &str, &str, &str); 30] = [
    ("anthropic", "claude-haiku-4-5", "1", "5", "0.1", "1.25"),
    ("anthropic", "claude-opus-4-5", "5", "25", "0.5", "6.25"),
    ("anthropic", "claude-opus-4-6", "5", "25", "0.5", "6.25"),
    ("cerebras", "gpt-oss-120b", "0.35", "0.75", "0", "0"),
    ("cohere", "command-a-03-2025", "2.5", "10", "0", "0"),
    ("cohere", "command-r-08-2024", "0.15", "0.6", "0", "0"),
    ("gemini", "gemini-2.5-flash", "0.3", "2.5", "0.03", "0"),
    ("gemini", "gemini-2.5-flash-lite", "0.1", "0.4", "0.01", "0"),
    ("gemini", "gemini-2.5-pro", "1.25", "10", "0.125", "0"),
    ("groq", "openai/gpt-oss-120b", "0.15", "0.6", "0.075", "0"),
    ("groq", "openai/gpt-oss-20b", "0.075", "0.3", "0.0375", "0"),
    ("minimax", "MiniMax-M2", "0.3", "1.2", "0.03", "0.375"),
    ("mistral", "codestral-latest", "0.3", "0.9", "0.03", "0"),
    ("mistral", "mistral-small-latest", "0.15", "0.6", "0.015", "0"),
    ("moonshot", "kimi-k2.5", "0.6", "3", "0.1", "0"),
    ("moonshot", "kimi-k2.6", "0.95", "4", "0.16", "0"),
    ("openai", "gpt-4.1", "2", "8", "0.5", "0"),
    ("openai", "gpt-4.1-mini", "0.4", "1.6", "0.1", "0"),
    ("openai", "gpt-4o", "2.5", "10", "1.25", "0"),
    ("openai", "gpt-4o-mini", "0.15", "0.6", "0.075", "0"),
    ("openai", "gpt-5", "1.25", "10", "0.125", "0"),
    ("openai", "gpt-5-mini", "0.25", "2", "0.025", "0"),
    ("openai", "gpt-5-nano", "0.05", "0.4", "0.005", "0"),
    ("openai", "o3", "2", "8", "0.5", "0"),
    ("openai", "o4-mini", "1.1", "4.4", "0.275", "0"),
    ("perplexity", "sonar-pro", "3", "15", "0", "0"),
    ("together", "openai/gpt-oss-120b", "0.15", "0.6", "0", "0"),
    ("zhipu", "glm-4.6", "0.6", "2.2", "0.11", "0"),
    ("zhipu", "glm-4.7", "0.6", "2.2", "0.11", "0"),
    ("zhipu", "glm-5", "1", "3.2", "0.2", "0"),
];

#[test]
fn well_known_models_have_their_prices() {
    let snapshot = Snapshot::shipped();
    for (vendor, name, input, output, hit, write) in WELL_KNOWN {
        let row = snapshot
            .model(vendor, name)
            .unwrap_or_else(|| panic!("{vendor} {name}"));
        let tier = &row.model.prices[0].tiers.tiers()[0];
        let found = [tier.input, tier.output.unwrap(), tier.hit, tier.write].map(|rate| rate.to_string());
        assert_eq!(found, [input, output, hit, write], "{vendor} {name}");
    }
}

#[test]
fn every_kind_of_models_is_there() {
    let snapshot = Snapshot::shipped();
    for kind in ModelKind::ALL {
        let priced = rows(&snapshot).filter(|(_, row)| row.model.kind == kind && !row.model.prices.is_empty());
        assert!(priced.count() > 0, "{kind}");
    }
    let unit = |vendor: &str, name: &str| -> Vec<(&str, String)> {
        let row = snapshot
            .model(vendor, name)
            .unwrap_or_else(|| panic!("{vendor} {name}"));
        let tier = &row.model.prices[0].tiers.tiers()[0];
        tier.units().map(|(unit, rate)| (unit, rate.to_string())).collect()
    };
    assert_eq!(unit("openai", "whisper-1"), [("second", "0.0001".to_owned())]);
    assert_eq!(unit("openai", "tts-1"), [("million characters", "15".to_owned())]);
    assert_eq!(unit("openai", "sora-2"), [("second", "0.1".to_owned())]);
    assert_eq!(unit("cohere", "rerank-v3.5"), [("search", "0.002".to_owned())]);
    assert_eq!(unit("perplexity", "sonar"), [("request", "0.005".to_owned())]);
    let speech = snapshot.model("openai", "gpt-4o-mini-tts").unwrap();
    assert_eq!(speech.model.kind, ModelKind::Speech);
}

#[test]
fn names_as_servers_return_them_are_found() {
    let snapshot = Snapshot::shipped();
    for (vendor, name, expected) in [
        ("openai", "gpt-4o-2024-08-06", Some("gpt-4o")),
        ("openai", "gpt-4o-2024-05-13", Some("gpt-4o-2024-05-13")),
        ("openai", "GPT-4o", Some("gpt-4o")),
        ("openai", "gpt-4.1-2025-04-14", Some("gpt-4.1")),
        (
            "anthropic",
            "claude-sonnet-4-5-20250929",
            Some("claude-sonnet-4-5-20250929"),
        ),
        ("gemini", "models/gemini-2.5-pro", Some("gemini-2.5-pro")),
        (
            "vertex",
            "publishers/google/models/gemini-2.5-pro",
            Some("gemini-2.5-pro"),
        ),
        (
            "fireworks",
            "accounts/fireworks/models/gpt-oss-120b",
            Some("accounts/fireworks/models/gpt-oss-120b"),
        ),
        ("groq", "openai/gpt-oss-120b", Some("openai/gpt-oss-120b")),
        // A version that is not known: all known ones have the price of the model without a day.
        ("openai", "gpt-4o-mini-2099-01-01", Some("gpt-4o-mini")),
        // Another one: the known versions have different prices.
        ("openai", "gpt-4o-2099-01-01", None),
        // Names that are merely similar.
        ("openai", "gpt-4o-extra", None),
        ("openai", "gpt-4", Some("gpt-4")),
        ("openai", "gpt-40", None),
        ("openai", "gpt", None),
        ("openai", "", None),
        ("ollama", "gpt-4o", None),
    ] {
        let found = snapshot.model(vendor, name).map(SnapshotModel::name);
        assert_eq!(found, expected, "{vendor} {name}");
    }
    assert!(snapshot.nearest("openai", "gpt-40").contains(&"gpt-4o"));
    assert!(snapshot.nearest("nobody", "gpt-4o").is_empty());
}

#[test]
fn the_vendor_is_that_of_the_host() {
    let snapshot = Snapshot::shipped();
    for (url, expected) in [
        ("https://api.openai.com/v1", Some("openai")),
        ("https://api.anthropic.com/v1", Some("anthropic")),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai",
            Some("gemini"),
        ),
        ("https://team.openai.azure.com/openai/v1", Some("azure")),
        (
            "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1",
            Some("bedrock"),
        ),
        ("https://my-balancer.eu-west-1.elb.amazonaws.com/v1", None),
        ("https://us-east1-aiplatform.googleapis.com/v1", Some("vertex")),
        // The servers of the same companies in China have prices in another currency.
        ("https://api.moonshot.cn/v1", None),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", None),
        ("http://localhost:11434/v1", None),
        ("http://127.0.0.1:8080/v1", None),
        ("https://api.openai.com.evil.example/v1", None),
        ("https://gateway.example/api.openai.com", None),
    ] {
        let found = snapshot.vendor_of_url(url).map(|vendor| vendor.name.as_str());
        assert_eq!(found, expected, "{url}");
    }
}

fn call(provider: &str, model: &str, input: u64) -> ModelCall {
    ModelCall::new(AnsweredBy::new(provider, model), SystemTime::UNIX_EPOCH).with_usage(Usage::new(input, 0))
}

#[test]
fn a_bill_names_the_snapshot_as_the_version_of_the_price() {
    let biller = CatalogBiller::new(Catalog::shipped());
    let cost = |call: ModelCall| {
        let bill = biller.bill("m", Some("USD"), &[call]).unwrap();
        let version = bill.calls[0].price_version.clone();
        (
            bill.cost.map(|cost| cost.to_string()),
            version.map(|version| version.to_string()),
        )
    };
    let version = || Some(Snapshot::shipped().id().to_owned());
    assert_eq!(
        cost(call("openai", "gpt-4o", 1_000_000)),
        (Some("2.500000 USD".to_owned()), version())
    );
    // A server that is called otherwise is not that of the vendor, whatever its models are called.
    assert_eq!(cost(call("ollama", "gpt-4o", 1_000_000)), (None, None));
    assert_eq!(cost(call("openai", "gpt-9000", 1_000_000)), (None, None));
    // The tier is the one of the prompt: 200,000 tokens are the last of the first tier.
    let tiers = [(200_000, "0.250000 USD"), (200_001, "0.500002 USD")];
    for (tokens, expected) in tiers {
        let (found, _) = cost(call("gemini", "models/gemini-2.5-pro", tokens));
        assert_eq!(found.as_deref(), Some(expected), "{tokens}");
    }
    for (class, expected) in [
        ("batch", Some("1.250000 USD")),
        ("on_demand", Some("2.500000 USD")),
        ("scale", None),
    ] {
        let mut call = call("openai", "gpt-4o", 1_000_000);
        call.service_tier = Some(class.into());
        assert_eq!(cost(call).0.as_deref(), expected, "{class}");
    }
}

#[test]
fn budgets_have_the_shipped_prices() {
    let usage = Usage::new(1_000_000, 1_000_000);
    let query = |provider| PriceQuery::new("gpt-4o-2024-08-06", &usage, SystemTime::UNIX_EPOCH).with_provider(provider);
    let price = PriceFn::from(PriceList::shipped());
    assert_eq!(
        price(&query("openai")).unwrap().money().unwrap().to_string(),
        "12.500000 USD"
    );
    assert!(price(&query("local")).is_none());
    let own = ListPrices::new(Snapshot::shipped()).with_provider("local", "openai");
    let price = PriceFn::from(PriceList::default().with_list(own));
    assert_eq!(
        price(&query("local")).unwrap().money().unwrap().to_string(),
        "12.500000 USD"
    );
    assert!(price(&query("openai")).is_none());
    // A price of the user is that of all versions, of which servers name one in their answers.
    let catalog = r#"
        [[vendors]]
        name = "work"
        endpoints = [{ name = "chat", api = "openai", kinds = ["text"] }]
        keys = [{ name = "team", secret = "${KEY}", users = ["*"] }]
        models = [{ name = "gpt-4o", prices = [{ currency = "USD", tiers = [{ input = "100", output = "200" }] }] }]
    "#;
    let own = Catalog::parse("models.toml", Format::Toml, catalog).unwrap();
    let own = own.with_list(ListPrices::by_name(Snapshot::shipped()));
    let price = PriceFn::from(own.prices().clone());
    assert_eq!(
        price(&query("work")).unwrap().money().unwrap().to_string(),
        "300.000000 USD"
    );
}
