//! A conformance suite for sources of catalogs: what every [`CatalogSource`] must do, checked on yours.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use agcore_catalog::{CatalogDocument, CatalogSource, Format};
//! use agcore_testkit::catalogs::{CatalogSourceSubject, check_catalog_source};
//! use async_trait::async_trait;
//!
//! /// Keeps the document in memory.
//! #[derive(Default)]
//! struct Subject(Arc<Mutex<String>>);
//!
//! #[async_trait]
//! impl CatalogSourceSubject for Subject {
//!     async fn store(&self, yaml: &str) {
//!         *self.0.lock().unwrap() = yaml.to_owned();
//!     }
//!
//!     async fn source(&self) -> Arc<dyn CatalogSource> {
//!         let text = Arc::clone(&self.0);
//!         Arc::new(CatalogDocument::new("memory", Format::Yaml, move || Ok(text.lock().unwrap().clone())))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! check_catalog_source(&Subject::default()).await;
//! # });
//! ```
#![expect(clippy::expect_used, reason = "a failed check panics with the name of the behavior")]

use std::sync::Arc;

use agcore_catalog::{Catalog, CatalogSource, Format, ModelKind};
use async_trait::async_trait;
use futures_util::future::join_all;

/// Stores catalogs where the source that is checked finds them.
#[async_trait]
pub trait CatalogSourceSubject: Send + Sync {
    /// Replaces the stored catalog by this document. A database stores what [`Catalog::parse`] returns; a document that is
    /// refused must be refused by the source as well, so it has to be stored as it is, or not at all.
    async fn store(&self, yaml: &str);

    /// Returns a source of the stored catalog, also after it is replaced.
    async fn source(&self) -> Arc<dyn CatalogSource>;
}

const FIRST: &str = r#"
version: first
vendors:
  - name: deepseek
    endpoints: [{name: chat, api: deepseek, kinds: [text, reasoning], currency: CNY}]
    keys:
      - {name: team, secret: "${DEEPSEEK_API_KEY}", users: [ann, "*"], requests_per_minute: 7, tokens_per_minute: 9000}
      - {name: line, lines: ["support 客服"]}
    models:
      - name: deepseek-chat
        vendor_name: "deepseek/chat:1"
        version: V3
        context_window: 128000
        max_output_tokens: 8192
        capabilities: [tools, json_object]
        default: true
        fallbacks: [deepseek-reasoner]
        prices:
          - currency: CNY
            version: may
            from: 2026-05-01T00:00:00Z
            until: 2026-06-01T00:00:00Z
            hours: "16:30-00:30"
            service_class: flex
            tiers:
              - {max_prompt_tokens: 32000, input: "0.000000000001", output: 2, hit: 0.2, write: 1.25, reasoning: 3}
              - {input: "999999999.999999999999", output: 20}
      - {name: deepseek-reasoner, kind: reasoning}
roles: {intent: deepseek-chat, plan: deepseek-reasoner}
"#;

const SECOND: &str = r#"
version: second
vendors:
  - name: local
    endpoints: [{name: e, api: ollama, base_url: "http://localhost:11434/v1", kinds: [text]}]
    keys: [{name: none, users: ["*"]}]
    models: [{name: llama3.2}]
"#;

/// Checks every behavior of a source.
///
/// # Panics
/// Panics with the name of the behavior and the difference if the source does not conform.
pub async fn check_catalog_source(subject: &dyn CatalogSourceSubject) {
    subject.store(FIRST).await;
    let source = subject.source().await;
    let loaded = source.load().await.expect("a stored catalog is loaded");
    same(&loaded, FIRST, "a catalog is loaded as it was stored");
    for catalog in join_all((0..50).map(|_| source.load())).await {
        same(
            &catalog.expect("concurrent loads succeed"),
            FIRST,
            "concurrent loads return the same",
        );
    }
    subject.store(SECOND).await;
    let changed = source.load().await.expect("a changed catalog is loaded");
    same(&changed, SECOND, "the next load returns what is stored now");
    same(&loaded, FIRST, "a loaded catalog does not change");
    subject.store("vendors: []").await;
    let empty = source.load().await.expect("an empty catalog is valid");
    assert_eq!(empty.models().count(), 0, "models that were removed are gone");
}

/// Compares everything but the places, which only documents have.
fn same(catalog: &Catalog, yaml: &str, behavior: &str) {
    let expected = Catalog::parse("expected", Format::Yaml, yaml).expect("the document of the suite is valid");
    assert_eq!(catalog.version(), expected.version(), "{behavior}");
    let models = |catalog: &Catalog| -> Vec<String> { catalog.models().map(|(_, model)| model.name.clone()).collect() };
    assert_eq!(
        models(catalog),
        models(&expected),
        "{behavior}: the models and their order"
    );
    for (vendor, model) in expected.models() {
        let (found_vendor, found) = catalog.model(&model.name).expect("every model is found by its name");
        let mut found = found.clone();
        found.place = model.place;
        assert_eq!(&found, model, "{behavior}: a model");
        let mut found = found_vendor.clone();
        found.place = vendor.place;
        found.models.clone_from(&vendor.models);
        for (found, row) in found.endpoints.iter_mut().zip(&vendor.endpoints) {
            found.place = row.place;
        }
        for (found, row) in found.keys.iter_mut().zip(&vendor.keys) {
            found.place = row.place;
        }
        assert!(
            found == *vendor,
            "{behavior}: the vendor `{}` with its endpoints and keys",
            vendor.name
        );
    }
    for role in expected.roles() {
        let found = catalog.role(&role.name).map(|model| model.name.as_str());
        assert_eq!(found, Some(role.model.as_str()), "{behavior}: a role");
    }
    let default = |catalog: &Catalog| catalog.default_model(ModelKind::Text).map(|model| model.name.clone());
    assert_eq!(default(catalog), default(&expected), "{behavior}: the default model");
    let prices = |catalog: &Catalog| catalog.prices().prices().to_vec();
    assert_eq!(prices(catalog), prices(&expected), "{behavior}: the prices");
}
