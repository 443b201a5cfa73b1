//! The format of snapshots, and public price lists that are read into them.

use std::time::SystemTime;

use agcore_catalog::{
    BilledCall, CallUsage, Catalog, CatalogBiller, ChangeKind, Currency, Format, ListPrices, Problem, Snapshot,
    SnapshotImport, SnapshotSource, SourceFormat, bill,
};
use agcore_chat::{Amount, AnsweredBy, Biller, ModelCall, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

const HEADER: &str = r#"{"agcore_snapshot":1,"id":"test","date":"2026-05-01","sources":[{"key":"s","name":"s","date":"2026-05-01","url":"","license":"MIT","copyright":""}]}"#;
const VENDOR: &str =
    r#"{"vendor":"openai","hosts":["api.openai.com"],"litellm":["openai"],"flat":true,"models_dev":"openai"}"#;

fn text(rows: &[&str]) -> String {
    [&[HEADER, VENDOR], rows].concat().join("\n") + "\n"
}

pub(crate) fn parse(rows: &[&str]) -> Snapshot {
    Snapshot::parse("s.jsonl", &text(rows)).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(rows: &[&str], expected: &str) {
    let error = Snapshot::parse("s.jsonl", &text(rows)).unwrap_err().to_string();
    assert!(error.contains(expected), "{expected}: {error}");
}

/// Returns a row with these members after its name.
fn row(members: &str) -> String {
    format!(r#"{{"id":"m","src":"s",{members}}}"#)
}

#[test]
fn rows_have_prices_with_tiers_and_classes() {
    let prices = r#""prices":{"standard":[{"max_prompt_tokens":1000,"input":1,"output":2.5},{"input":"3","output":4,"hit":0.5}],"flex":[{"input":0.5,"output":1}]}"#;
    let snapshot = parse(&[&row(&format!(
        r#""aka":["n"],"window":8000,"retires":"2026-12-31",{prices}"#
    ))]);
    let model = snapshot.model("openai", "n").unwrap();
    assert_eq!(
        (model.name(), model.model.context_window, model.model.prices.len()),
        ("m", Some(8000), 2)
    );
    assert_eq!(model.retires.as_deref(), Some("2026-12-31"));
    let list = Catalog::of_prices("s", Default::default()).with_list(ListPrices::by_name(snapshot.into()));
    let cost = |tokens: u64, class: &str| {
        let mut call = BilledCall::new("m", SystemTime::UNIX_EPOCH).with_usage(CallUsage::from(&Usage::new(tokens, 0)));
        call.provider = "openai".to_owned();
        let bill = bill("m", Currency::USD, &[call.with_service_class(class)], list.prices()).unwrap();
        bill.cost.map(Amount::to_six_decimals)
    };
    assert_eq!(cost(1000, "default").as_deref(), Some("0.001000"));
    assert_eq!(cost(1001, "on_demand").as_deref(), Some("0.003003"));
    assert_eq!(cost(1000, "flex").as_deref(), Some("0.000500"));
    assert_eq!(cost(1000, "priority"), None);
}

#[test]
fn what_is_wrong_with_a_row_is_refused() {
    let standard = |tiers: &str| row(&format!(r#""prices":{{"standard":[{tiers}]}}"#));
    refused(
        &[&standard(r#"{"input":-1,"output":2}"#)],
        "s.jsonl:3:1: openai.m.input: \"-1\" is refused",
    );
    refused(&[&standard(r#"{"input":1e30,"output":2}"#)], "a rate is at most");
    refused(&[&standard(r#"{"input":NaN,"output":2}"#)], "s.jsonl:3:1: openai.row");
    refused(
        &[&standard(r#"{"input":0,"output":0}"#)],
        "a price of 0 needs the member free",
    );
    refused(&[&standard(r#"{"input":1,"outptu":2}"#)], "there is no such rate");
    refused(
        &[&standard(r#"{"input":1,"input":2}"#)],
        "the name \"input\" occurs twice",
    );
    refused(
        &[&standard(r#"{"max_prompt_tokens":5,"input":1}"#)],
        "the last tier is open",
    );
    refused(&[&standard("")], "at least one tier");
    refused(
        &[r#"{"id":"m","src":"s"}"#, r#"{"id":"n","aka":["M"],"src":"s"}"#],
        "s.jsonl:4:1: openai.id",
    );
    refused(&[r#"{"id":"m","src":"s","id":"n"}"#], "duplicate field");
    refused(&[r#"{"id":"m","src":"other"}"#], "the header has no such source");
    refused(&[r#"{"id":"m","src":"s","kind":"oracle"}"#], "no such kind");
    refused(&[r#"{"id":"m","src":"s","retires":"soon"}"#], "YYYY-MM-DD");
    refused(&[r#"{"id":"","src":"s"}"#], "1 to 200 bytes");
    refused(&[r#"{"id":"m","src":"s","price":1}"#], "unknown field");
    refused(
        &[r#"{"vendor":"x","hosts":[],"currency":"RMB"}"#],
        "a currency is an ISO 4217 code",
    );
    refused(&[VENDOR], "another line has the same vendor");
    refused(&["nonsense"], "s.jsonl:3:1");
    // All rows are checked, and all problems are reported at once.
    let error = Snapshot::parse("s", &text(&["{}", r#"{"id":"m","src":"s"}"#, "[]"])).unwrap_err();
    assert_eq!(error.problems.len(), 2);
    for text in [
        "",
        "{}",
        "\n",
        r#"{"agcore_snapshot":2,"id":"x","date":"2026-05-01","sources":[]}"#,
    ] {
        assert!(Snapshot::parse("s", text).is_err(), "{text}");
    }
    let early = format!("{HEADER}\n{}\n", r#"{"id":"m","src":"s"}"#);
    assert!(
        Snapshot::parse("s", &early)
            .unwrap_err()
            .to_string()
            .contains("after the line of its vendor")
    );
}

#[test]
fn a_price_of_0_is_free_if_the_row_says_so() {
    let free = row(r#""free":true,"prices":{"standard":[{"input":0,"output":0}]}"#);
    let snapshot = parse(&[&free]);
    let catalog = Catalog::of_prices("s", Default::default()).with_list(ListPrices::by_name(snapshot.into()));
    let call = ModelCall::new(AnsweredBy::new("openai", "m"), SystemTime::UNIX_EPOCH).with_usage(Usage::new(5, 5));
    let bill = CatalogBiller::new(catalog).bill("m", Some("USD"), &[call]).unwrap();
    assert_eq!(bill.cost.unwrap().to_string(), "0.000000 USD");
}

#[test]
fn a_catalog_has_precedence_also_under_another_name_of_the_model() {
    let catalog = r#"
        [[vendors]]
        name = "work"
        endpoints = [{ name = "chat", api = "openai", kinds = ["text"] }]
        keys = [{ name = "team", secret = "${KEY}", users = ["*"] }]
        models = [{ name = "m", prices = [{ currency = "USD", tiers = [{ input = "7", output = "7" }] }] }]
    "#;
    let snapshot = parse(&[&row(
        r#""aka":["m-2026-01-01"],"prices":{"standard":[{"input":1,"output":1}]}"#,
    )]);
    let own = Catalog::parse("models.toml", Format::Toml, catalog).unwrap();
    let biller = CatalogBiller::new(own.with_list(ListPrices::by_name(snapshot.into())));
    let cost = |call: ModelCall, currency: &str| {
        let bill = biller
            .bill("x", Some(currency), &[call.with_usage(Usage::new(1_000_000, 0))])
            .unwrap();
        bill.cost.map(|cost| cost.to_string())
    };
    let call = |model: &str| ModelCall::new(AnsweredBy::new("openai", model), SystemTime::UNIX_EPOCH);
    assert_eq!(cost(call("m"), "USD").as_deref(), Some("7.000000 USD"));
    let mut reported = call("m");
    reported.reported_model = Some("m-2026-01-01".into());
    assert_eq!(cost(reported.clone(), "USD").as_deref(), Some("7.000000 USD"));
    // Nor does the list fill in another currency of a model that the catalog prices.
    assert_eq!(cost(reported, "EUR"), None);
    assert_eq!(cost(call("m-2026-01-01"), "USD").as_deref(), Some("7.000000 USD"));
}

pub(crate) fn source(key: &str) -> SnapshotSource {
    SnapshotSource {
        key: key.to_owned(),
        name: key.to_owned(),
        date: "2026-06-01".to_owned(),
        ..SnapshotSource::default()
    }
}

pub(crate) fn import(base: &Snapshot, format: SourceFormat, list: &Value) -> Result<SnapshotImport, Problem> {
    base.import(format, source("new"), &list.to_string())
}

/// Returns the changes after an import.
#[track_caller]
pub(crate) fn changes(base: &Snapshot, format: SourceFormat, list: &Value) -> Vec<String> {
    let import = import(base, format, list).unwrap_or_else(|problem| panic!("{problem}"));
    base.changes_to(&import.snapshot)
        .iter()
        .map(ToString::to_string)
        .collect()
}

const BASE: &str = r#"{"id":"m","aka":["m-2026-01-01"],"src":"s","prices":{"standard":[{"input":1,"output":2}],"batch":[{"input":0.5,"output":1}]}}"#;

#[test]
fn a_list_replaces_the_rows_that_it_has_and_keeps_the_others() {
    let base = parse(&[BASE, r#"{"id":"old","src":"s"}"#]);
    let list = json!({"openai": {"models": {
        "m": {"cost": {"input": 1, "output": 3}}, "new": {"cost": {"input": 0.1, "output": 0.2}, "limit": {"context": 1000}},
    }}, "unknown": {"models": {"x": {"cost": {"input": -1}}}}});
    let found = changes(&base, SourceFormat::ModelsDev, &list);
    assert_eq!(
        found,
        [
            "~ openai/m: 1/2 USD -> 1/3 USD, without batch",
            "+ openai/new: 0.1/0.2 USD"
        ]
    );
    let read = import(&base, SourceFormat::ModelsDev, &list).unwrap().snapshot;
    // The other name of the model keeps what was known about it.
    assert_eq!(read.model("openai", "m-2026-01-01").unwrap().model.prices.len(), 2);
    assert_eq!(read.model("openai", "m").unwrap().source, "new");
    assert_eq!((read.id(), read.date()), ("2026-06-01 new", "2026-06-01"));
    assert_eq!(read.sources().len(), 2);
    // What the list confirms stays as it is, with the classes that it does not know.
    let same = json!({"openai": {"models": {"m": {"cost": {"input": 1, "output": 2}}}}});
    assert_eq!(changes(&base, SourceFormat::ModelsDev, &same), [""; 0]);
}

#[test]
fn tiers_and_classes_of_litellm_are_read() {
    let base = parse(&[]);
    let list = json!({"sample_spec": {"mode": "x"}, "openai/m": {
        "litellm_provider": "openai", "mode": "chat", "max_input_tokens": 1e6, "supports_vision": true,
        "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "cache_read_input_token_cost": 1e-7,
        "cache_creation_input_token_cost": 1.25e-6, "cache_creation_input_token_cost_above_1hr": 2e-6,
        "input_cost_per_token_above_272k_tokens": 2e-6, "output_cost_per_token_above_272k_tokens": 3e-6,
        "input_cost_per_token_priority": 2e-6, "output_cost_per_token_priority": 4e-6,
        "input_cost_per_token_flex": 5e-7, "output_cost_per_token_flex": 1e-6,
        "input_cost_per_token_above_272k_tokens_flex": 1e-6, "output_cost_per_token_above_272k_tokens_flex": 1.5e-6,
    }, "m-latest": {"alias_of": "openai/m"}, "hd/m": {"litellm_provider": "openai", "mode": "chat"}});
    let read = import(&base, SourceFormat::LiteLlm, &list).unwrap().snapshot;
    let model = read.model("openai", "m-latest").unwrap();
    let shown: Vec<String> = model
        .model
        .prices
        .iter()
        .map(|price| format!("{:?}", price.service_class))
        .collect();
    // The rates of long prompts in the class `priority` are not known, so that the class has no price.
    assert_eq!(shown, ["None", "Some(\"flex\")"]);
    let tiers = model.model.prices[0].tiers.tiers();
    assert_eq!(
        (tiers[0].max_prompt_tokens, tiers[1].input.to_string()),
        (Some(272_000), "2".to_owned())
    );
    assert_eq!(
        (tiers[0].write.to_string(), tiers[0].write_long.to_string()),
        ("1.25".to_owned(), "2".to_owned())
    );
    assert_eq!(model.inputs, ["text", "image"]);
    assert_eq!(read.models("openai").len(), 1);
}

#[test]
fn a_hostile_or_damaged_list_is_refused() {
    let base = parse(&[BASE]);
    let dev = |cost: Value| json!({"openai": {"models": {"m": {"cost": cost}}}});
    let check = |format, list: &str, expected: &str| {
        let error = base.import(format, source("new"), list).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    };
    for format in [SourceFormat::LiteLlm, SourceFormat::ModelsDev] {
        for list in ["", "[]", "null", "<html>", "{\"openai\":", "{\"openai\": 5}"] {
            check(format, list, "is refused");
        }
        check(format, "{}", "no model");
        check(format, &" ".repeat(Snapshot::MAX_BYTES + 1), "at most");
        check(format, &"[".repeat(100_000), "is refused");
    }
    check(
        SourceFormat::ModelsDev,
        &dev(json!({"input": -1, "output": 1})).to_string(),
        "m.input: \"-1\"",
    );
    check(
        SourceFormat::ModelsDev,
        &dev(json!({"input": "NaN", "output": 1})).to_string(),
        "\"NaN\"",
    );
    check(
        SourceFormat::ModelsDev,
        r#"{"openai":{"models":{"m":{"cost":{"input":NaN}}}}}"#,
        "is refused",
    );
    check(
        SourceFormat::ModelsDev,
        r#"{"openai":{"models":{"m":{},"m":{}}}}"#,
        "\"m\" occurs twice",
    );
    check(SourceFormat::LiteLlm, r#"{"m":{},"m":{}}"#, "\"m\" occurs twice");
    let negative =
        r#"{"m":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":1e-6,"output_cost_per_token":-1}}"#;
    check(SourceFormat::LiteLlm, negative, "m.output_cost_per_token: \"-1\"");
    let currency = text(&[]).replace("\"hosts\"", "\"currency\":\"RMB\",\"hosts\"");
    check(SourceFormat::Snapshot, &currency, "ISO 4217");
}

#[test]
fn implausible_prices_and_two_prices_for_a_model_are_left_out() {
    let base = parse(&[BASE]);
    let list = json!({"openai": {"models": {
        "m": {"cost": {"input": 1, "output": 2, "cache_read": 5}}, "dear": {"cost": {"input": 50_000, "output": 1}},
        "free": {"cost": {"input": 0, "output": 0}},
    }}});
    let read = import(&base, SourceFormat::ModelsDev, &list).unwrap();
    let fields: Vec<&str> = read.skipped.iter().map(Problem::field).collect();
    assert_eq!(fields, ["openai.m.standard[0].hit", "openai.dear.standard[0].input"]);
    // The row in force stays, and a new model has no price.
    assert_eq!(base.changes_to(&read.snapshot).len(), 2);
    assert_eq!(read.snapshot.model("openai", "m").unwrap().source, "s");
    assert!(read.snapshot.model("openai", "dear").unwrap().model.prices.is_empty());
    assert!(read.snapshot.model("openai", "free").unwrap().model.prices.is_empty());
    let entry = |input: f64| json!({"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": input, "output_cost_per_token": 1e-6});
    let two = json!({"openai/x": entry(1e-6), "x": entry(2e-6)});
    let read = import(&base, SourceFormat::LiteLlm, &two).unwrap();
    assert_eq!(read.skipped[0].field(), "openai.x.prices");
    assert!(read.snapshot.model("openai", "x").unwrap().model.prices.is_empty());
}

#[test]
fn a_second_source_confirms_prices_and_fills_gaps() {
    let one = parse(&[
        r#"{"id":"a","src":"s","prices":{"standard":[{"input":1,"output":2}]}}"#,
        r#"{"id":"b","src":"s","prices":{"standard":[{"input":1,"output":2}]}}"#,
        r#"{"id":"c","src":"s"}"#,
    ]);
    let list = json!({"openai": {"models": {
        "a": {"cost": {"input": 1, "output": 2}}, "b": {"cost": {"input": 3, "output": 2}},
        "c": {"cost": {"input": 5, "output": 6}}, "d": {"cost": {"input": 1, "output": 1}},
    }}});
    let two = import(&parse(&[]), SourceFormat::ModelsDev, &list).unwrap().snapshot;
    let check = one.checked_against(&two).unwrap();
    assert_eq!((check.confirmed, check.unconfirmed), (1, 0));
    let found: Vec<String> = check.disagreements.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        ["openai/b input: 1, second 3", "openai/c price: none, second 5/6"]
    );
    // Nothing is averaged.
    let changes = one.changes_to(&check.snapshot);
    assert_eq!(
        (changes.len(), changes[0].kind, changes[0].model.as_str()),
        (1, ChangeKind::Price, "c")
    );
    assert_eq!(check.snapshot.model("openai", "c").unwrap().source, "new");
}

#[test]
fn a_snapshot_survives_its_own_text() {
    let snapshot = parse(&[BASE]);
    let again = Snapshot::parse("s", snapshot.as_text()).unwrap();
    assert_eq!(again.models("openai"), snapshot.models("openai"));
    let read = import(
        &snapshot,
        SourceFormat::ModelsDev,
        &json!({"openai": {"models": {"z": {}}}}),
    )
    .unwrap();
    let again = Snapshot::parse("s", read.snapshot.as_text()).unwrap();
    assert_eq!(again.models("openai"), read.snapshot.models("openai"));
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,200}", row in ".{0,80}") {
        let _ = Snapshot::parse("s", &text);
        let _ = Snapshot::parse("s", &self::text(&[&row]));
        let base = parse(&[BASE]);
        for format in [SourceFormat::LiteLlm, SourceFormat::ModelsDev, SourceFormat::Snapshot] {
            let _ = base.import(format, source("new"), &text);
        }
        let _ = (SourceFormat::of(&text), base.model("openai", &text), base.vendor_of_url(&text), base.nearest("openai", &text));
    }

    #[test]
    fn damaged_lists_do_not_panic(at in 0_usize..400, byte in any::<u8>()) {
        let list = json!({"openai": {"models": {"m": {"cost": {"input": 1, "output": 3, "context_over_200k": {"input": 2, "output": 1}},
            "limit": {"context": 5}, "modalities": {"input": ["text"], "output": ["text"]}}}}}).to_string();
        let mut bytes = list.into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes) {
            let _ = parse(&[BASE]).import(SourceFormat::ModelsDev, source("new"), &text);
        }
    }
}
