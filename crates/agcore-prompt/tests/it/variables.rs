//! The variables and partials that templates report.

use crate::support::compile;

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(compile(source).variables(), expected, "{source}");
}

#[test]
fn lists_each_variable_once_in_order_of_use() {
    check("none", &[]);
    check("{{b}}{{a.x.0}}{{b}}{{this.c}}{{this}}", &["b", "a.x.0", "c"]);
    check(
        "{{#if a}}{{b}}{{else if c}}{{d}}{{else}}{{e}}{{/if}}{{#unless f}}{{/unless}}",
        &["a", "b", "c", "d", "e", "f"],
    );
    check("{{#raw}}{{x}}{{/raw}}\\{{y}}{{! {{z}} }}", &[]);
}

#[test]
fn prefixes_loop_variables_with_the_list() {
    check(
        "{{#each xs}}{{a}}{{this}}{{item}}{{item.b}}{{this.c}}{{else}}{{d}}{{/each}}",
        &["xs", "xs[].a", "xs[].b", "xs[].c", "d"],
    );
    check(
        "{{#each xs}}{{@index}}{{@key}}{{#if @first}}{{/if}}{{/each}}{{@last}}{{item}}",
        &["xs", "item"],
    );
    check(
        "{{#each a.b}}{{#each cs}}{{d}}{{/each}}{{#each this}}{{e}}{{/each}}{{/each}}",
        &["a.b", "a.b[].cs", "a.b[].cs[].d", "a.b[][].e"],
    );
    check("{{#each this}}{{a}}{{/each}}", &["[].a"]);
}

#[test]
fn lists_partials_separately() {
    let template = compile("{{> b}}{{#each xs}}{{> a/c}}{{#if t}}{{else}}{{> b}}{{/if}}{{/each}}");
    assert_eq!(template.partials(), ["b", "a/c"]);
    assert_eq!(template.variables(), ["xs", "xs[].t"]);
}
