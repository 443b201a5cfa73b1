//! Libraries do not print: they return values, emit events, or use tracing.

use syn::visit::{self, Visit};
use syn::{ImplItem, Item, Macro};

use crate::report::finding::Finding;
use crate::source::rust_source;
use crate::source::sources::{SourceFile, Sources};

const PRINTING: &[&str] = &["dbg", "eprint", "eprintln", "print", "println"];

/// The crate whose purpose is to print.
const COMMAND_LINE: &str = "crates/agcore-cli/";

/// Macros whose code is a part of the tests of others.
const TEST_MACROS: &str = "crates/agcore-testkit/src/stores/tests_macro.rs";

/// Checks library code; programs and tests may print.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let libraries = sources.iter().filter(|file| is_library(file));
    libraries
        .flat_map(|file| printed(file).into_iter().map(|(name, line)| finding(file, &name, line)))
        .collect()
}

fn is_library(file: &SourceFile) -> bool {
    let is_program = file.path.ends_with("/src/main.rs") || file.path.contains("/src/bin/");
    let prints = file.path.starts_with(COMMAND_LINE) || file.path == TEST_MACROS;
    file.is_crate_source() && !prints && !is_program && !file.is_test_code()
}

fn finding(file: &SourceFile, name: &str, line: usize) -> Finding {
    Finding::new(
        format!("{}:{line}", file.path),
        format!("a library calls {name}!"),
        "return the text, emit an event, or use tracing",
    )
}

/// Returns the name and line of each call. The check `module-docs` reports a file that does not parse.
fn printed(file: &SourceFile) -> Vec<(String, usize)> {
    let mut collector = Collector::default();
    if let Ok(syntax) = file.syntax() {
        collector.visit_file(syntax);
    }
    collector.calls
}

#[derive(Default)]
struct Collector {
    calls: Vec<(String, usize)>,
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        if !rust_source::is_test_only(rust_source::item_attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !rust_source::is_test_only(rust_source::impl_item_attributes(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let own = call
            .path
            .segments
            .last()
            .map(|part| (part.ident.to_string(), part.ident.span().start().line));
        let inside = rust_source::macro_calls(call.tokens.clone());
        let all = own.into_iter().chain(inside);
        self.calls
            .extend(all.filter(|(name, _)| PRINTING.contains(&name.as_str())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/agcore-llm/src/sse.rs";

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let found = findings(&Sources::from([(path, text)]));
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn finds_printing_in_code_and_in_macros() {
        check(
            PATH,
            "fn f() {\n println!(\"a\");\n let b = vec![dbg!(1)];\n std::eprint!(\"c\"); }",
            &[
                "sse.rs:2: a library calls println!",
                "sse.rs:3: a library calls dbg!",
                "sse.rs:4: a library calls eprint!",
            ],
        );
        check(PATH, "macro_rules! m { () => { eprintln!(\"x\") } }", &["eprintln!"]);
    }

    #[test]
    fn accepts_printing_in_programs_tests_and_docs() {
        let text = "fn f() { println!(\"a\"); }";
        check("crates/agcore-cli/src/render.rs", text, &[]);
        check("crates/agcore-testkit/src/bin/mock.rs", text, &[]);
        check("crates/agcore-llm/tests/it/main.rs", text, &[]);
        check("crates/agcore-llm/src/sse/tests.rs", text, &[]);
        check(PATH, "#[cfg(test)] mod tests { fn f() { println!(\"a\"); } }", &[]);
        check(
            PATH,
            "//! ```\n//! println!(\"a\");\n//! ```\n/// `dbg!(x)`\nfn f() { g(\"print!()\") }",
            &[],
        );
    }
}
