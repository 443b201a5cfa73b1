//! Whitespace around tags: trimming with `~`, and standalone tags.

use serde_json::json;

use crate::support::check;

#[test]
fn removes_the_line_of_a_standalone_tag() {
    check(
        "a\n{{#if t}}\nb\n{{else}}\nc\n{{/if}}\nd\n",
        json!({"t": 1}),
        "a\nb\nd\n",
    );
    check(
        "a\n  {{#if t}}  \n  b\n\t{{else}}\nc\n \t{{/if}}\t\nd",
        json!({"t": 1}),
        "a\n  b\nd",
    );
    check("a\r\n{{#if t}}\r\nb\r\n{{/if}}\r\nd", json!({"t": 1}), "a\r\nb\r\nd");
    check(
        "{{#each xs}}\n- {{this}}\n{{/each}}\n",
        json!({"xs": [1, 2]}),
        "- 1\n- 2\n",
    );
    check("a\n  {{! comment }}\nb\n{{!-- two\nlines --}}\nc", json!({}), "a\nb\nc");
    check("  {{#if t}}\nb\n  {{/if}}", json!({"t": 1}), "b\n");
    check("{{#if t}}\n{{#if t}}\nb\n{{/if}}\n{{/if}}\n", json!({"t": 1}), "b\n");
    check("{{#if t}}\n\nb\n\n{{/if}}\n\nc", json!({"t": 1}), "\nb\n\n\nc");
}

#[test]
fn keeps_other_lines() {
    check("a {{#if t}}\nb{{/if}}\nc", json!({"t": 1}), "a \nb\nc");
    check("{{#if t}} x\n{{/if}} y\n", json!({"t": 1}), " x\n y\n");
    check("{{t}}\n{{t}}\n", json!({"t": 1}), "1\n1\n");
    check("{{#if t}}{{#if t}}\nb\n{{/if}}{{/if}}\n", json!({"t": 1}), "\nb\n\n");
    check("\u{a0}{{#if t}}\nb{{/if}}", json!({"t": 1}), "\u{a0}\nb");
    check("\\{{ {{#if t}}\nb{{/if}}", json!({"t": 1}), "{{ \nb");
    check("{{! a }} {{! b }}\n", json!({}), " \n");
}

#[test]
fn the_end_of_the_source_ends_a_line_directly_after_the_tag() {
    check("a\n  {{#if t}}\nb\n  {{/if}}", json!({"t": 1}), "a\nb\n");
    check("a\n  {{! c }}", json!({}), "a\n");
    check("a\n{{! c }}  ", json!({}), "a\n  ");
}

#[test]
fn tildes_trim_all_whitespace_next_to_the_tag() {
    check("a \n {{~x~}} \n b", json!({"x": 1}), "a1b");
    check("a \n {{~x}} \n b", json!({"x": 1}), "a1 \n b");
    check("a {{~#if t~}} b {{~else~}} c {{~/if~}} d", json!({"t": 1}), "abd");
    check("a {{~#if t~}} b {{~else~}} c {{~/if~}} d", json!({"t": 0}), "acd");
    check("{{x~}} {{x}} {{~x}}", json!({"x": 1}), "111");
    check("a {{#if t}}{{~x~}}{{/if}} b", json!({"t": 1, "x": 1}), "a 1 b");
    check("{{~ x ~}}", json!({"x": 1}), "1");
    check("\u{2003}{{~x~}}\u{2003}", json!({"x": 1}), "1");
    check("{{x~}} \\{{ {{~x}}", json!({"x": 1}), "1{{1");
}

#[test]
fn tildes_combine_with_standalone_tags() {
    check("a\n\n  {{~#if t}}\n  b\n  {{/if~}}\n\nc", json!({"t": 1}), "a  b\nc");
    check("a\n{{#if t~}}\n\n  b\n{{~/if}}\nc", json!({"t": 1}), "a\nbc");
}
