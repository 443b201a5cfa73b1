//! The registry of providers, and its use from several threads.

use std::{sync::Arc, thread};

use agcore_chat::ChatResponse;
use agcore_llm::{LlmErrorKind, LlmProvider, ProviderRegistry, provider_fn};

fn provider() -> impl LlmProvider + 'static {
    provider_fn(|_| async { Ok(ChatResponse::default()) })
}

#[test]
fn registers_replaces_and_removes_providers() {
    let registry = ProviderRegistry::new();
    let first: Arc<dyn LlmProvider> = Arc::new(provider());
    assert!(registry.register("a", Arc::clone(&first)).is_none());
    assert!(
        registry.register("a", provider()).is_some(),
        "the replaced provider is returned"
    );
    registry.register("b", provider());
    assert_eq!(registry.names(), ["a", "b"]);
    assert!(registry.remove("b").is_some());
    assert!(registry.remove("b").is_none());
    assert_eq!(registry.names(), ["a"]);
}

#[test]
fn the_error_for_an_unknown_name_suggests_another() {
    let registry = ProviderRegistry::new();
    let message = |name: &str| {
        let error = registry.get(name).unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::NotFound);
        error.to_string()
    };
    assert_eq!(message("a"), "unknown provider `a`; no providers are registered");
    registry.register("fast", provider());
    registry.register("good", provider());
    assert_eq!(
        message("godo"),
        "unknown provider `godo`, did you mean `good`? registered providers: fast, good"
    );
}

#[test]
fn the_only_provider_is_the_default() {
    let registry = ProviderRegistry::new();
    let message = || registry.default_provider().unwrap_err().to_string();
    assert_eq!(message(), "no default provider is set; no providers are registered");
    registry.register("a", provider());
    assert!(registry.default_provider().is_ok());
    registry.register("b", provider());
    assert_eq!(message(), "no default provider is set; registered providers: a, b");
}

#[test]
fn setting_an_unknown_default_fails_and_changes_nothing() {
    let registry = ProviderRegistry::new();
    registry.register("a", provider());
    registry.register("b", provider());
    registry.set_default("b").unwrap();
    let error = registry.set_default("c").unwrap_err();
    assert_eq!(error.to_string(), "unknown provider `c`; registered providers: a, b");
    assert_eq!(registry.default_name().as_deref(), Some("b"));
    assert!(registry.default_provider().is_ok());
    registry.remove("b");
    assert_eq!(registry.default_name(), None);
}

#[test]
fn clones_are_handles_to_the_same_registry() {
    let registry = ProviderRegistry::new();
    thread::scope(|scope| {
        for writer in 0..4 {
            let registry = registry.clone();
            scope.spawn(move || {
                for number in 0..100 {
                    registry.register(format!("{writer}-{number}"), provider());
                    assert!(registry.get(&format!("{writer}-{number}")).is_ok());
                }
            });
        }
    });
    assert_eq!(registry.names().len(), 400);
}
