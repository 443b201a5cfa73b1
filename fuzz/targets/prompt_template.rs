//! Templates: for any source, context and partial, compiling and rendering terminate, limits are enforced, and all ways of
//! rendering agree.
//!
//! The input is a template, a context as JSON and a partial called `p`, separated by NUL.
#![no_main]

use agcore_fuzz::parts;
use agcore_prompt::{PromptErrorKind, PromptTemplate, PromptTemplateRegistry, RenderOptions, Value};
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 2048;

/// One level more than the nesting limit.
const TOO_DEEP: usize = 17;

fn check(template: &PromptTemplate, json: &serde_json::Value, context: &Value) {
    let describe = |result: Result<String, _>| result.map_err(|error: agcore_prompt::PromptError| error.to_string());
    let rendered = template.render(context);
    match &rendered {
        Ok(text) => assert!(
            text.len() <= template.options().max_output_bytes,
            "larger than the limit"
        ),
        Err(error) => assert!(!error.to_string().is_empty(), "an error without a message"),
    }
    let first = describe(rendered);
    assert_eq!(describe(template.render(context)), first, "rendered twice");
    assert_eq!(
        describe(template.render_from(json)),
        first,
        "rendered from a serializable value"
    );
    let mut out = String::new();
    let written = template.render_to(&mut out, context).map(|()| out);
    assert_eq!(describe(written), first, "rendered into a writer");

    if let Ok(text) = &first {
        let lenient = template.clone().with_options(template.options().with_lenient(true));
        assert_eq!(
            lenient.render(context).as_ref().ok(),
            Some(text),
            "lenient changes only errors"
        );
        // A limit that is one byte too small must be an error.
        if let Some(limit) = text.len().checked_sub(1) {
            let small = template
                .clone()
                .with_options(template.options().with_max_output_bytes(limit));
            let error = small.render(context).expect_err("larger than the limit");
            assert!(matches!(error.kind(), PromptErrorKind::Size { .. }), "{error}");
        }
    }
}

fuzz_target!(|input: &str| {
    let [source, json, partial] = parts(input);
    let Ok(template) = PromptTemplate::compile(source) else {
        return;
    };
    assert_eq!(template.to_string(), source);
    let deep = format!("{}{source}{}", "{{#if a}}".repeat(TOO_DEEP), "{{/if}}".repeat(TOO_DEEP));
    assert!(PromptTemplate::compile(deep).is_err(), "nested too deeply");
    let _ = (template.variables(), template.partials());

    let json = serde_json::from_str(json).unwrap_or_default();
    let context = Value::from_serialize(&json).expect("JSON is a value");
    let options = RenderOptions::new().with_max_output_bytes(LIMIT);
    check(&template.clone().with_options(options), &json, &context);
    let mut registry = PromptTemplateRegistry::new().with_options(options.with_lenient(true));
    let _ = registry.register("p", partial);
    registry.register_lazy("self", source).expect("a valid name");
    check(&registry.bind(&template), &json, &context);
});
