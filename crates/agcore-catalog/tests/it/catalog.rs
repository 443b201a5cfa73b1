//! Catalogs: the samples, everything that can be wrong, and selection.

use std::{
    fmt::Write as _,
    io,
    sync::{Arc, Mutex},
};

use agcore_catalog::{Catalog, CatalogDocument, CatalogError, CatalogSource, Currency, Format, ModelKind, Place};
use agcore_chat::Actor;
use agcore_testkit::catalogs::{CatalogSourceSubject, check_catalog_source};
use async_trait::async_trait;
use futures_util::FutureExt;
use proptest::prelude::*;

const TOML: &str = include_str!("../../samples/models.toml");
const YAML: &str = include_str!("../../samples/models.yaml");

fn toml(text: &str) -> Result<Catalog, CatalogError> {
    Catalog::parse("models.toml", Format::Toml, text)
}

/// Returns the parts of a catalog without their places and the name of the document.
fn shape(catalog: &Catalog) -> String {
    let text = format!("{catalog:?}").replace(catalog.file(), "");
    let mut parts = text.split("Place { line: ");
    let mut shape = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shape += part.split_once('}').unwrap().1;
    }
    let keys = catalog.vendors().iter().flat_map(|vendor| &vendor.keys);
    for key in keys {
        write!(
            shape,
            "{:?} {:?} {:?}",
            key.reference, key.requests_per_minute, key.tokens_per_minute
        )
        .unwrap();
    }
    shape
}

#[test]
fn both_samples_are_the_same_catalog() {
    let yaml = Catalog::parse("models.yaml", Format::Yaml, YAML).unwrap_or_else(|error| panic!("{error}"));
    let toml = toml(TOML).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shape(&toml), shape(&yaml));
    assert_eq!((toml.version(), toml.models().count()), (Some("2026-05"), 2));
    let (vendor, model) = toml.model("qwen-plus").unwrap();
    assert_eq!(
        (vendor.name.as_str(), model.prices[0].tiers.position(32_001)),
        ("qwen", 1)
    );
    assert_eq!(vendor.endpoint_of(model).unwrap().name, "compatible");
    assert_eq!(toml.default_model(ModelKind::Text).unwrap().name, "deepseek-chat");
    assert_eq!(toml.role("intent").unwrap().name, "qwen-plus");
    assert!(toml.prices().has_price("deepseek-chat", Currency::CNY));
    toml.require_roles(&["intent", "execution", "reporting"]).unwrap();
    let missing = toml.require_roles(&["plan", "intent", "review"]).unwrap_err();
    assert_eq!(missing.problems.len(), 2);
    assert!(
        missing
            .to_string()
            .contains("models.toml: roles.plan: nothing is refused"),
        "{missing}"
    );
}

#[test]
fn keys_are_granted_to_users_and_lines() {
    let catalog = toml(TOML).unwrap();
    let keys = &catalog.model("qwen-plus").unwrap().0.keys;
    let (ann, support) = (Actor::user("ann"), Actor::user("ann").with_line("support"));
    assert_eq!(
        keys.iter().map(|key| key.is_granted_to(&ann)).collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(
        keys.iter().map(|key| key.is_granted_to(&support)).collect::<Vec<_>>(),
        [true, true]
    );
    assert!(!format!("{catalog:?}").contains("API_KEY"));
}

/// Checks that a changed sample is refused with exactly these problems: the line, which contains a text, the field and a part
/// of the rule.
#[track_caller]
fn refused(from: &str, to: &str, expected: &[(&str, &str, &str)]) {
    assert!(TOML.contains(from), "{from}");
    let text = TOML.replacen(from, to, 1);
    let error = toml(&text).expect_err("the catalog is read");
    assert_eq!(error.problems.len(), expected.len(), "{error}");
    for (found, (line, field, rule)) in error.problems.iter().zip(expected) {
        let at = text.lines().nth(found.place.line - 1).unwrap();
        assert!(at.contains(line) && found.place.column <= at.len(), "{at}: {error}");
        assert_eq!(found.problem.field(), *field, "{error}");
        assert!(found.problem.rule().contains(rule), "{error}");
    }
}

const MODEL: &str = "vendors[0].models[0]";
const QWEN: &str = "vendors[1].models[0]";

#[test]
fn members_are_checked_with_their_places() {
    refused(
        "name = \"deepseek\"",
        "nam = \"deepseek\"",
        &[
            ("[[vendors]]", "vendors[0].name", "required"),
            ("nam = ", "vendors[0].nam", "did you mean name?"),
        ],
    );
    let field = |name: &str| format!("{MODEL}.{name}");
    refused(
        "kind = \"text\"",
        "kind = \"txt\"",
        &[
            ("txt", &field("kind"), "the kinds are text, reasoning"),
            ("execution", "roles.execution", "no such model"),
        ],
    );
    for (from, to, name, rule) in [
        (
            "context_window = 128000",
            "context_window = -1",
            "context_window",
            "at least 1",
        ),
        ("default = true", "default = \"yes\"", "default", "true or false"),
        ("input = \"2\"", "input = true", "prices[0].tiers[0].input", "decimal"),
        (
            "input = \"2\"",
            "input = \"-2\"",
            "prices[0].tiers[0].input",
            "at least 0",
        ),
        ("input = \"2\"", "input = 1e30", "prices[0].tiers[0].input", "at most"),
        ("{ input = \"2\",", "{", "prices[0].tiers[0].input", "required"),
        (
            "hit = \"0.2\"",
            "hit = \"0.1234567890123\"",
            "prices[0].tiers[0].hit",
            "12 decimals",
        ),
        (
            "currency = \"CNY\"",
            "currency = \"RMB\"",
            "prices[0].currency",
            "ISO 4217",
        ),
        ("version = \"2025-09\"", "from = \"May\"", "prices[0].from", "RFC 3339"),
        (
            "version = \"2025-09\"",
            "hours = \"25:00-01:00\"",
            "prices[0].hours",
            "HH:MM-HH:MM",
        ),
    ] {
        let line = if to.starts_with("hours") {
            "[[vendors.models.prices]]"
        } else {
            to
        };
        refused(from, to, &[(line, &field(name), rule)]);
    }
    refused(
        "https://dash",
        "ftp://dash",
        &[("ftp", "vendors[1].endpoints[0].base_url", "https://")],
    );
    refused(
        "users = [\"*\"]",
        "users = \"all\"",
        &[
            ("[[vendors.keys]]", "vendors[0].keys[0]", "granted to no one"),
            ("users", "vendors[0].keys[0].users", "a list"),
        ],
    );
}

#[test]
fn the_catalog_is_checked_as_a_whole() {
    let vendor = "[[vendors]]";
    let model = "[[vendors.models]]";
    let tier = "[[vendors.models.prices.tiers]]";
    refused(
        "max_prompt_tokens = 32000",
        "",
        &[(
            tier,
            &format!("{QWEN}.prices[0].tiers[0].max_prompt_tokens"),
            "only the last",
        )],
    );
    refused(
        "input = \"2.4\"",
        "max_prompt_tokens = 32000\ninput = \"2.4\"",
        &[(
            tier,
            &format!("{QWEN}.prices[0].tiers[1].max_prompt_tokens"),
            "ascend strictly",
        )],
    );
    refused(
        "lines = [\"support\"]",
        "",
        &[("[[vendors.keys]]", "vendors[1].keys[0]", "granted to no one")],
    );
    for (from, to, field, rule) in [
        (
            "context_window = 1000000",
            "default = true",
            format!("{QWEN}.default"),
            "default of the kind text",
        ),
        (
            "context_window = 1000000",
            "fallbacks = [\"deepseek-chat\"]",
            format!("{MODEL}.fallbacks"),
            "cycle",
        ),
        (
            "[\"qwen-plus\"]",
            "[\"deepseek-chat\"]",
            format!("{MODEL}.fallbacks"),
            "cycle",
        ),
        (
            "[\"qwen-plus\"]",
            "[\"qwen-pus\"]",
            format!("{MODEL}.fallbacks[0]"),
            "did you mean qwen-plus?",
        ),
        (
            "kinds = [\"text\", \"reasoning\"]",
            "kinds = [\"speech\"]",
            format!("{MODEL}.endpoint"),
            "exactly one",
        ),
        (
            "version = \"V3.2\"",
            "endpoint = \"chatt\"",
            format!("{MODEL}.endpoint"),
            "did you mean chat?",
        ),
    ] {
        refused(from, to, &[(model, &field, rule)]);
    }
    refused(
        "name = \"everyone\"",
        "name = \"support\"",
        &[("[[vendors.keys]]", "vendors[1].keys[1].name", "the same name")],
    );
    refused(
        "name = \"qwen\"",
        "name = \"deepseek\"",
        &[(vendor, "vendors[1].name", "the same name")],
    );
    refused(
        "intent = \"qwen-plus\"",
        "intent = \"qwen\"",
        &[("intent", "roles.intent", "no such model")],
    );
    let twice = "[[vendors.models.prices]]\ncurrency = \"CNY\"\ntiers = [{ input = 1, output = 1 }]\n\n[[vendors]]\nname = \"qwen\"";
    refused(
        "[[vendors]]\nname = \"qwen\"",
        twice,
        &[(model, "vendors[0].models[0].prices[1].model", "prices[0] has the same")],
    );
}

#[test]
fn keys_are_refused_and_never_shown() {
    let text = TOML.replacen("${DEEPSEEK_API_KEY}", "sk-very-secret", 1);
    let error = toml(&text).unwrap_err();
    assert_eq!((error.problems.len(), error.problems[0].place.line), (1, 14));
    let shown = format!("{error} {error:?}");
    assert!(
        shown.contains("write a reference such as") && !shown.contains("very-secret"),
        "{shown}"
    );
}

#[test]
fn syntax_errors_have_a_place() {
    let error = toml("a = 1\nb = = 2").unwrap_err().to_string();
    assert!(error.starts_with("models.toml:2:5: document: "), "{error}");
    for text in [
        "a: [1",
        "a: 1\na: 2",
        "? [a]\n: b",
        "a: &x [*x]",
        "a: !!set {}",
        "--- a\n--- b",
        "- [\u{0}",
    ] {
        let error = Catalog::parse("m.yaml", Format::Yaml, text).unwrap_err();
        assert!(error.problems[0].place.line > 0, "{error}");
    }
    for text in ["7", "[]", "text"] {
        let error = Catalog::parse("m.yaml", Format::Yaml, text).unwrap_err().to_string();
        assert!(error.contains("a table is expected"), "{error}");
    }
    assert_eq!(Catalog::parse("m.yaml", Format::Yaml, "").unwrap().models().count(), 0);
    assert!(Place::default() < error_place());
}

fn error_place() -> Place {
    toml("=").unwrap_err().problems[0].place
}

#[test]
fn ten_thousand_models_are_read() {
    let mut text = String::from(
        "[[vendors]]\nname = \"v\"\nendpoints = [{ name = \"e\", api = \"openai\", kinds = [\"text\"] }]\n\
         keys = [{ name = \"k\", users = [\"*\"] }]\n",
    );
    for number in 0..10_000 {
        let next = if number == 9_999 {
            String::new()
        } else {
            format!("\"model-{}\"", number + 1)
        };
        writeln!(
            text,
            "[[vendors.models]]\nname = \"model-{number}\"\nfallbacks = [{next}]"
        )
        .unwrap();
    }
    let catalog = toml(&text).unwrap();
    assert_eq!(catalog.models().count(), 10_000);
    let cycle = text.replace("fallbacks = []", "fallbacks = [\"model-0\"]");
    let error = toml(&cycle).unwrap_err();
    assert_eq!(error.problems.len(), 1);
}

#[test]
fn models_are_selected_by_capability_and_price() {
    let catalog = toml(TOML).unwrap();
    let names = |capabilities: &[&str], currency| {
        let models = catalog.select(ModelKind::Text, capabilities, currency);
        models.into_iter().map(|model| model.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["tools"], Some(Currency::CNY)), ["deepseek-chat", "qwen-plus"]);
    assert_eq!(names(&["json_schema"], None), ["qwen-plus"]);
    assert!(names(&["tools"], Some(Currency::USD)).is_empty() && names(&["images"], None).is_empty());
    let without_default = toml(&TOML.replace("default = true", "")).unwrap();
    let models = without_default.select(ModelKind::Text, &[], Some(Currency::CNY));
    assert_eq!(models[0].name, "qwen-plus");
}

#[test]
fn a_document_is_read_again_at_each_load() {
    let source = CatalogDocument::new("models.toml", Format::Toml, || Ok(TOML.to_owned()));
    assert_eq!(source.load().now_or_never().unwrap().unwrap().models().count(), 2);
    let missing = CatalogDocument::new("models.toml", Format::Toml, || {
        Err(io::Error::from(io::ErrorKind::NotFound))
    });
    let error = missing.load().now_or_never().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("models.toml: document: entity not found"), "{error}");
}

/// Keeps a document in memory, and can forget that it changes.
#[derive(Default)]
struct Documents {
    text: Arc<Mutex<String>>,
    is_forgetful: bool,
}

#[async_trait]
impl CatalogSourceSubject for Documents {
    async fn store(&self, yaml: &str) {
        let mut text = self.text.lock().unwrap();
        if text.is_empty() || !self.is_forgetful {
            *text = yaml.to_owned();
        }
    }

    async fn source(&self) -> Arc<dyn CatalogSource> {
        let text = Arc::clone(&self.text);
        Arc::new(CatalogDocument::new("memory", Format::Yaml, move || {
            Ok(text.lock().unwrap().clone())
        }))
    }
}

#[test]
fn documents_conform() {
    check_catalog_source(&Documents::default()).now_or_never().unwrap();
}

#[test]
#[should_panic(expected = "the next load returns what is stored now")]
fn a_source_that_does_not_load_again_is_found() {
    let documents = Documents {
        is_forgetful: true,
        ..Documents::default()
    };
    check_catalog_source(&documents).now_or_never().unwrap();
}

fn cases() -> ProptestConfig {
    let is_soak = std::env::var_os("AGCORE_SOAK").is_some();
    ProptestConfig::with_cases(if is_soak { 20_000 } else { 100 })
}

proptest! {
    #![proptest_config(cases())]

    /// Damaged documents are read or refused with a place, and never panic.
    #[test]
    fn damaged_documents_are_refused(at in 0.0..1.0_f64, length in 0..40_usize, text in "[ -~\n]{0,12}", is_toml in any::<bool>()) {
        let (whole, format) = if is_toml { (TOML, Format::Toml) } else { (YAML, Format::Yaml) };
        let start = (whole.len() as f64 * at) as usize;
        let end = (start + length).min(whole.len());
        let damaged = format!("{}{text}{}", &whole[..start], &whole[end..]);
        if let Err(error) = Catalog::parse("x", format, &damaged) {
            prop_assert!(!error.problems.is_empty());
            for problem in &error.problems {
                prop_assert!(problem.place.line > 0, "{error}");
            }
        }
    }
}
