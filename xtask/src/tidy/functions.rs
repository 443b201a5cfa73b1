//! A function fits on one screen.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, ImplItem, ImplItemFn, Item, ItemFn, Signature, TraitItemFn};

use crate::report::finding::Finding;
use crate::source::rust_source;
use crate::source::sources::{SourceFile, Sources};
use crate::tidy::exception::{Exception, Exceptions};

/// The most lines of a function, from its signature to its closing brace.
const MAX_LINES: usize = 60;

/// The most lines of a function in test code.
const MAX_TEST_LINES: usize = 100;

/// The most entries of the list of exceptions.
const MAX_EXCEPTIONS: usize = 1;

/// Functions that are long for a reason: `path:name`.
const EXCEPTIONS: &[Exception] = &[];

const THIS_FILE: &str = "xtask/src/tidy/functions.rs";

/// Measures every function of the workspace.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let mut findings = check(sources, EXCEPTIONS);
    findings.extend(too_many(EXCEPTIONS.len()));
    findings
}

fn too_many(exceptions: usize) -> Option<Finding> {
    (exceptions > MAX_EXCEPTIONS).then(|| {
        Finding::new(
            THIS_FILE,
            format!("{exceptions} exceptions, {MAX_EXCEPTIONS} is allowed"),
            "split one of the functions",
        )
    })
}

fn check(sources: &Sources, exceptions: &[Exception]) -> Vec<Finding> {
    let mut violations = Vec::new();
    for file in sources.iter().filter(|file| file.is_rust()) {
        for function in functions(file) {
            violations.extend(violation(file, &function));
        }
    }
    let is_present = |subject: &str| {
        let path = subject.split(':').next().unwrap_or_default();
        sources.get(path).is_some()
    };
    let exceptions = Exceptions {
        list: exceptions,
        file: THIS_FILE,
    };
    exceptions.apply(violations, is_present)
}

fn violation(file: &SourceFile, function: &Function) -> Option<(String, Finding)> {
    let Function {
        name,
        line,
        lines,
        is_test,
    } = function;
    let limit = if *is_test { MAX_TEST_LINES } else { MAX_LINES };
    (*lines > limit).then(|| {
        let finding = Finding::new(
            format!("{}:{line}", file.path),
            format!("function `{name}` has {lines} lines, {limit} are allowed"),
            "move its steps to functions of their own",
        );
        (format!("{}:{name}", file.path), finding)
    })
}

#[derive(Debug)]
struct Function {
    name: String,
    line: usize,
    lines: usize,
    is_test: bool,
}

/// Returns every function with a body. The check `module-docs` reports a file that does not parse.
fn functions(file: &SourceFile) -> Vec<Function> {
    let mut collector = Collector {
        is_test: file.is_test_code(),
        functions: Vec::new(),
    };
    if let Ok(syntax) = file.syntax() {
        collector.visit_file(syntax);
    }
    collector.functions
}

struct Collector {
    is_test: bool,
    functions: Vec<Function>,
}

impl Collector {
    fn add(&mut self, start: Span, signature: &Signature, body: &Block) {
        let (start, end) = (start.start().line, body.span().end().line);
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line: start,
            lines: end - start + 1,
            is_test: self.is_test,
        });
    }

    /// Visits a part of the file that may be test code.
    fn within(&mut self, is_test: bool, visit: impl FnOnce(&mut Self)) {
        let before = self.is_test;
        self.is_test |= is_test;
        visit(self);
        self.is_test = before;
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        let is_test = rust_source::is_test_only(rust_source::item_attributes(item));
        self.within(is_test, |collector| visit::visit_item(collector, item));
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let is_test = rust_source::is_test_only(rust_source::impl_item_attributes(item));
        self.within(is_test, |collector| visit::visit_impl_item(collector, item));
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(function.sig.span(), &function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(function.sig.span(), &function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(function.sig.span(), &function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/a/src/usage.rs";

    #[track_caller]
    fn check_function(path: &str, wrap: impl Fn(&str) -> String, lines: usize, expected: Option<&str>) {
        let body = "    g();\n".repeat(lines - 2);
        let text = wrap(&format!("/// Docs.\n#[inline]\nfn f() {{\n{body}}}\n"));
        let found = check(&Sources::from([(path, text.as_str())]), &[]);
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn finds_a_long_function() {
        check_function(PATH, str::to_owned, 60, None);
        check_function(
            PATH,
            str::to_owned,
            61,
            Some("usage.rs:3: function `f` has 61 lines, 60 are allowed"),
        );
        check_function(PATH, |f| format!("impl S {{ {f} }}"), 61, Some("61 lines"));
        check_function(PATH, |f| format!("trait T {{ {f} }}"), 61, Some("61 lines"));
        check_function(
            "benches/a/main.rs",
            |f| format!("mod m {{ {f} }}"),
            61,
            Some("61 lines"),
        );
    }

    #[test]
    fn tests_may_be_longer() {
        let tests = |f: &str| format!("#[cfg(test)] mod tests {{ {f} }}");
        check_function(PATH, tests, 100, None);
        check_function(PATH, tests, 101, Some("101 lines, 100 are allowed"));
        check_function("crates/a/tests/it/main.rs", str::to_owned, 100, None);
    }

    #[test]
    fn an_exception_names_file_and_function() {
        let body = "    g();\n".repeat(70);
        let text = format!("fn f() {{\n{body}}}\nfn g() {{\n{body}}}\n");
        let exception = Exception {
            subject: "crates/a/src/usage.rs:f",
            reason: "a table",
        };
        let found = check(&Sources::from([(PATH, text.as_str())]), &[exception]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].to_string().contains("function `g`"), "{found:?}");
    }

    #[test]
    fn the_list_of_exceptions_is_limited() {
        assert_eq!(too_many(1), None);
        assert!(too_many(2).is_some());
    }

    #[test]
    fn exceptions_name_existing_files() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for exception in EXCEPTIONS {
            let path = exception.subject.split(':').next().unwrap();
            assert!(root.join(path).exists(), "{exception:?}");
        }
    }
}
