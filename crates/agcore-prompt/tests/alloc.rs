//! Allocation tests: rendering allocates the output buffer and nothing per node.
#![allow(clippy::unwrap_used, reason = "tests assert by panicking")]

use agcore_prompt::{Object, PromptTemplate, RenderOptions, Value};
use allocation_counter::measure;
use serde::Serialize;

/// A writer that counts the bytes and discards them.
struct Sink(usize);

impl std::fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    count: u32,
    share: f64,
}

fn rows(len: usize) -> Vec<Row> {
    (0..len)
        .map(|at| Row {
            name: "a name that is not short",
            count: at as u32,
            share: at as f64 / 4.0,
        })
        .collect()
}

const SOURCE: &str = "{{title}}{{#each rows}}
{{@index}}. {{name}} {{count}} {{share}} {{title}} {{this.name}} {{#if @last}}last{{else if count}}{{item.name}}{{/if}} {{@key}}{{@first}}
{{#unless missing}}{{/unless}}{{#each this}}{{@key}}={{this}};{{else}}none{{/each}}
{{/each}}";

fn context(len: usize) -> Value {
    let rows = Value::from_serialize(&rows(len)).unwrap();
    Object::new().with("title", "你好").with("rows", rows).into()
}

#[test]
fn rendering_a_prebuilt_context_allocates_nothing() {
    let template = PromptTemplate::compile(SOURCE).unwrap();
    for len in [0, 1, 1000] {
        let context = context(len);
        let mut sink = Sink(0);
        let counted = measure(|| template.render_to(&mut sink, &context).unwrap());
        assert_eq!(counted.count_total, 0, "{len} rows");
        assert!(sink.0 >= len * 50);
    }
}

#[test]
fn a_missing_variable_of_a_lenient_template_allocates_nothing() {
    let template = PromptTemplate::compile("{{#each rows}}{{nothing}}{{name.x}}{{/each}}").unwrap();
    let template = template.with_options(RenderOptions::new().with_lenient(true));
    let context = context(1000);
    assert_eq!(
        measure(|| template.render_to(&mut Sink(0), &context).unwrap()).count_total,
        0
    );
}

#[test]
fn the_output_string_is_preallocated_and_then_doubles() {
    let template = PromptTemplate::compile(SOURCE).unwrap();
    let small = context(3);
    assert_eq!(measure(|| drop(template.render(&small).unwrap())).count_total, 1);
    let large = context(1000);
    let counted = measure(|| drop(template.render(&large).unwrap())).count_total;
    assert!(counted <= 10, "{counted}");
}

#[test]
fn a_snapshot_allocates_two_growing_buffers() {
    #[derive(Serialize)]
    struct Context {
        title: &'static str,
        rows: Vec<Row>,
    }
    let template = PromptTemplate::compile(SOURCE).unwrap();
    for (len, most) in [(3, 3), (1000, 35)] {
        let context = Context {
            title: "t",
            rows: rows(len),
        };
        let counted = measure(|| drop(template.render_from(&context).unwrap())).count_total;
        assert!(counted <= most, "{len} rows: {counted}");
    }
}

#[test]
fn cloning_a_template_allocates_nothing() {
    let template = PromptTemplate::compile(SOURCE).unwrap();
    assert_eq!(measure(|| drop(template.clone())).count_total, 0);
}

#[test]
fn the_counter_sees_allocations() {
    // An allocation that is not used may be left out with optimizations.
    let allocate = || drop(std::hint::black_box(String::from("x")));
    assert_eq!(measure(allocate).count_total, 1);
}
