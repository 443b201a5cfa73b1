//! Helpers shared by all tests.

use agcore_prompt::{PromptError, PromptTemplate, PromptTemplateRegistry, RenderOptions, Value};
use serde_json::Value as Json;

/// Renders a template from a tree and from a snapshot, and checks that both agree.
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

/// Checks the output of a strict template.
#[track_caller]
pub(crate) fn check(source: &str, context: Json, expected: &str) {
    let found = try_render(&compile(source), &context).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(found, expected, "{source} with {context}");
}

/// Checks the output of a lenient template.
#[track_caller]
pub(crate) fn check_lenient(source: &str, context: Json, expected: &str) {
    let template = compile(source).with_options(RenderOptions::new().with_lenient(true));
    assert_eq!(
        try_render(&template, &context).unwrap(),
        expected,
        "{source} with {context}"
    );
}

/// Checks that a source fails to compile with this message.
#[track_caller]
pub(crate) fn check_compile_error(source: &str, expected: &str) {
    match PromptTemplate::compile(source) {
        Ok(template) => panic!("compiled: {template:?}"),
        Err(error) => assert_eq!(error.to_string(), expected, "{source}"),
    }
}

/// Checks that a template fails to render with this message.
#[track_caller]
pub(crate) fn check_render_error(source: &str, context: Json, expected: &str) {
    let error = try_render(&compile(source), &context).expect_err(source);
    assert_eq!(error.to_string(), expected, "{source} with {context}");
}

/// Creates a registry with these templates.
pub(crate) fn registry(templates: &[(&str, &str)]) -> PromptTemplateRegistry {
    let mut registry = PromptTemplateRegistry::new();
    for (name, source) in templates {
        registry.register(name, *source).unwrap();
    }
    registry
}
