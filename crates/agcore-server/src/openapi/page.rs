//! The page that shows the operations.

use std::fmt::Write as _;

use super::{scope::Described, scoped::Scoped};
use crate::problem::ProblemCode;

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>agcore</title><style>\
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
code{font:13px ui-monospace,monospace;background:#8882;padding:.1rem .3rem;border-radius:.2rem}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .5rem;border-top:1px solid #8884;vertical-align:top}\
h2{font-size:1rem;margin-top:2rem}</style></head><body><h1>agcore</h1>\
<p>The document for programs is <a href=\"/openapi.json\">/openapi.json</a>.</p>";

/// Returns the page. It loads nothing.
pub(super) fn page<H>(operations: &[&Scoped<H>], described: Described) -> String {
    let mut page = HEAD.to_owned();
    // Writing to a string cannot fail, and all texts are constants of the program without markup.
    for scoped in operations {
        let operation = &scoped.operation;
        let method = operation.method.as_str().to_uppercase();
        let _ = write!(
            page,
            "<h2><code>{method} {}</code></h2><p>{}.</p>",
            operation.path, operation.summary
        );
        if !operation.parameters.is_empty() {
            page.push_str("<table>");
            for parameter in &operation.parameters {
                let (name, place, description) = (parameter.name, parameter.place, parameter.description);
                let _ = write!(
                    page,
                    "<tr><td><code>{name}</code></td><td>{place}</td><td>{description}</td></tr>"
                );
            }
            page.push_str("</table>");
        }
        let codes = scoped.all_problems(described);
        let codes: Vec<_> = codes
            .iter()
            .map(|code| format!("<code>{}</code>", code.as_str()))
            .collect();
        let _ = write!(
            page,
            "<p>Answers with {}. Problems: {}</p>",
            operation.answer.status,
            codes.join(" ")
        );
    }
    page.push_str("<h2>Problems</h2><table><tr><th>code</th><th>status</th><th>meaning</th></tr>");
    for code in ProblemCode::ALL {
        let (name, status, title) = (code.as_str(), code.status(), code.title());
        let _ = write!(
            page,
            "<tr><td><code>{name}</code></td><td>{status}</td><td>{title}</td></tr>"
        );
    }
    page.push_str("</table></body></html>");
    page
}
