//! Helpers for all tests.

use agcore_prompt::{PromptError, PromptTemplate, PromptTemplateRegistry, RenderOptions, Value};
use serde_json::Value as Json;

/// Renders a template from a tree and from a snapshot, which must agree.
pub(crate) fn try_render(template: &PromptTemplate, context: &Json) -> Result<String, PromptError> {
    let tree = template.render(&Value::from(context.clone()));
    let snapshot = template.render_from(context);
    assert_eq!(tree.as_ref().ok(), snapshot.as_ref().ok(), "{template} with {context}");
    assert_eq!(
        tree.as_ref().err().map(ToString::to_string),
        snapshot.err().map(|error| error.to_string())
    );
    tree
}

#[track_caller]
pub(crate) fn compile(source: &str) -> PromptTemplate {
    PromptTemplate::compile(source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// A strict template renders to this.
#[track_caller]
pub(crate) fn check(source: &str, context: Json, expected: &str) {
    let found = try_render(&compile(source), &context).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(found, expected, "{source} with {context}");
}

/// A lenient template renders to this.
#[track_caller]
pub(crate) fn check_lenient(source: &str, context: Json, expected: &str) {
    let template = compile(source).with_options(RenderOptions::new().with_lenient(true));
    assert_eq!(
        try_render(&template, &context).unwrap(),
        expected,
        "{source} with {context}"
    );
}

/// A source does not compile, with this message.
#[track_caller]
pub(crate) fn check_fault(source: &str, expected: &str) {
    match PromptTemplate::compile(source) {
        Ok(template) => panic!("compiled: {template:?}"),
        Err(error) => assert_eq!(error.to_string(), expected, "{source}"),
    }
}

/// A template does not render, with this message.
#[track_caller]
pub(crate) fn check_render_fault(source: &str, context: Json, expected: &str) {
    let error = try_render(&compile(source), &context).expect_err(source);
    assert_eq!(error.to_string(), expected, "{source} with {context}");
}

/// A registry of these templates.
pub(crate) fn registry(templates: &[(&str, &str)]) -> PromptTemplateRegistry {
    let mut registry = PromptTemplateRegistry::new();
    for (name, source) in templates {
        registry.register(name, *source).unwrap();
    }
    registry
}
