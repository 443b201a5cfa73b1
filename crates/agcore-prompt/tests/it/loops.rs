//! Loops: iteration and scope.

use serde_json::json;

use crate::support::{check, check_lenient, check_render_error};

#[test]
fn iterates_over_arrays() {
    check(
        "{{#each xs}}{{this}},{{/each}}",
        json!({"xs": [1, "b", null, [2]]}),
        "1,b,,[2],",
    );
    check(
        "{{#each xs}}{{@index}}{{@key}}{{@first}}{{@last}} {{/each}}",
        json!({"xs": [7, 7]}),
        "00truefalse 11falsetrue ",
    );
    check(
        "{{#each xs}}{{item}}{{item.a}}{{else}}none{{/each}}",
        json!({"xs": [{"a": 1}]}),
        "{\"a\":1}1",
    );
    check("{{#each xs}}x{{else}}none{{/each}}", json!({"xs": []}), "none");
    check("{{#each xs}}x{{else}}none{{/each}}", json!({"xs": null}), "none");
    check(
        "{{#each xs}}x{{else if y}}Y{{else}}none{{/each}}",
        json!({"xs": [], "y": 1}),
        "Y",
    );
    check(
        "{{#each this}}{{#unless @first}}, {{/unless}}{{this}}{{/each}}",
        json!(["a", "b"]),
        "a, b",
    );
}

#[test]
fn iterates_over_objects_in_order() {
    let source = "{{#each o}}{{@index}}:{{@key}}={{this}}{{#if @last}}.{{/if}} {{/each}}";
    check(source, json!({"o": {"z": 1, "a": 2, "m": 3}}), "0:z=1 1:a=2 2:m=3. ");
    check("{{#each o}}x{{else}}none{{/each}}", json!({"o": {}}), "none");
}

#[test]
fn nested_loops_see_the_enclosing_scopes() {
    let context = json!({
        "title": "T",
        "name": "outer",
        "rows": [{"name": "r1", "cells": [1, 2]}, {"cells": [{"name": "c", "item": "field"}]}],
    });
    let source =
        "{{#each rows}}{{name}}({{#each cells}}{{name}}:{{@index}}:{{item}} {{/each}}{{@index}}{{title}}){{/each}}";
    // `name` is resolved in the cell, then the row, then the context. A field called `item` shadows the element.
    check(source, context, "r1(r1:0:1 r1:1:2 0T)outer(c:0:field 1T)");
    check(
        "{{#each xs}}{{#each this}}{{item}}{{/each}};{{/each}}",
        json!({"xs": [[1, 2], [3]]}),
        "12;3;",
    );
    check(
        "{{#each xs}}{{item}}{{/each}}",
        json!({"xs": [1], "item": "outer"}),
        "outer",
    );
    check(
        "{{#each xs}}{{this.a}}{{/each}}{{a}}",
        json!({"xs": [{"a": 1}], "a": 2}),
        "12",
    );
    check_render_error(
        "{{#each xs}}{{this.a}}{{/each}}",
        json!({"xs": [{}], "a": 2}),
        "line 1, column 15: variable `this.a` has no value in the context (near `{{#each xs}}{{this.a}}{{/each}}`)",
    );
}

#[test]
fn only_the_first_segment_of_a_path_falls_back_to_outer_scopes() {
    let source = "{{#each xs}}{{user.name}}{{/each}}";
    check_lenient(source, json!({"xs": [{"user": {}}], "user": {"name": "outer"}}), "");
    check_lenient(source, json!({"xs": [{}], "user": {"name": "outer"}}), "outer");
}
