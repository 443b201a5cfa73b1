//! Tests of all errors: their locations and messages.

use proc_macro2::TokenStream;
use syn::{
    Token,
    parse::{Parse, ParseStream, Parser},
    token,
};

use crate::tool::Tool;

/// `#[tool(…)]` and the item below it.
struct Source(TokenStream, TokenStream);

impl Parse for Source {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (content, options);
        input.parse::<Token![#]>()?;
        syn::bracketed!(content in input);
        content.parse::<syn::Ident>()?;
        let options = if content.peek(token::Paren) {
            syn::parenthesized!(options in content);
            options.parse()?
        } else {
            TokenStream::new()
        };
        Ok(Self(options, input.parse()?))
    }
}

/// Formats the errors as a compiler would: the line, and below it the underlined tokens and the message.
fn errors(source: &str) -> String {
    let Source(options, item) = Source::parse.parse_str(source).expect("the source is well-formed");
    let error = Tool::parse(syn::parse_quote!(::agcore_tools), options, item)
        .err()
        .expect("the source contains a mistake");
    let shown = error.into_iter().map(|error| {
        let (start, end) = (error.span().start(), error.span().end());
        let line = source.lines().nth(start.line - 1).expect("the line exists");
        let underlined = "^".repeat(end.column.saturating_sub(start.column).max(1));
        let column = start.column;
        format!("{line}\n{:column$}{underlined} {error}", "")
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Checks the errors and their order. Each expected error is a line of the source, and below it the underlined tokens
/// and the start of the message.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let found = errors(source);
    let lines: Vec<&str> = found.lines().collect();
    let expected: Vec<&str> = expected.iter().flat_map(|error| error.lines()).collect();
    let matches = lines.len() == expected.len()
        && lines
            .iter()
            .zip(&expected)
            .all(|(line, expected)| line.starts_with(expected));
    assert!(matches, "found:\n{found}\nexpected:\n{}", expected.join("\n"));
}

/// Checks a mistake in the options of an otherwise valid function.
#[track_caller]
fn check_options(attribute: &str, expected: &str) {
    let source = format!("{attribute}\n/// Adds.\nasync fn add(a: i64) -> Result<i64, ToolError> {{ Ok(a) }}");
    check(&source, &[&format!("{attribute}\n{expected}")]);
}

/// Checks a mistake in a parameter of an otherwise valid function.
#[track_caller]
fn check_parameter(parameter: &str, expected: &str) {
    let source = format!("#[tool]\n/// Adds.\nasync fn add(\n{parameter},\n) -> Result<i64, ToolError> {{ Ok(0) }}");
    check(&source, &[&format!("{parameter}\n{expected}")]);
}

/// Checks mistakes in the signature of an otherwise valid function.
#[track_caller]
fn check_signature(signature: &str, expected: &[&str]) {
    let source = format!("#[tool(description = \"Adds.\")]\n{signature} {{ Ok(0) }}");
    let expected: Vec<String> = expected
        .iter()
        .map(|error| format!("{signature}\n{error}").replace(" {\n", "\n"))
        .collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(&source, &expected);
}

#[test]
fn rejects_unknown_options() {
    check_options(
        r#"#[tool(nmae = "x")]"#,
        "       ^^^^ unknown option `nmae`: expected one of name, description, title,",
    );
    check_options("#[tool(read_only, fn)]", "                  ^^ unknown option `fn`:");
    check_options(r#"#[tool("add")]"#, "       ^^^^^ expected ident");
}

#[test]
fn rejects_timeouts_without_a_unit() {
    for (value, mark) in [("5", "^"), ("\"5\"", "^^^"), ("\"fast\"", "^^^^^^")] {
        check_options(
            &format!("#[tool(timeout = {value})]"),
            &format!("                 {mark} write the timeout with its unit, such as"),
        );
    }
    check_options(
        "#[tool(timeout = \"0s\")]",
        "                 ^^^^ the timeout is zero, so that no call would succeed",
    );
    check_options(
        "#[tool(timeout)]",
        "       ^^^^^^^ `timeout` needs a value: write `timeout = …`",
    );
}

#[test]
fn rejects_duplicate_options() {
    check_options(
        r#"#[tool(name = "x", read_only, name = "y")]"#,
        "                              ^^^^ `name` is given twice",
    );
    check_options(
        "#[tool(read_only, read_only = false)]",
        "                  ^^^^^^^^^ `read_only` is given twice",
    );
}

#[test]
fn rejects_invalid_values_of_options() {
    check_options("#[tool(name)]", "       ^^^^ `name` needs a value: write `name = …`");
    check_options("#[tool(title(x))]", "       ^^^^^ `title` needs a value");
    check_options("#[tool(name = NAME)]", "              ^^^^ expected string literal");
    check_options(
        r#"#[tool(name = "add two")]"#,
        "              ^^^^^^^^^ a tool name must not be empty or contain whitespace",
    );
    check_options(
        "#[tool(description = 5)]",
        "                     ^ expected a string literal",
    );
    check_options(r#"#[tool(title = " ")]"#, "               ^^^ the text is empty");
    check_options(
        "#[tool(idempotent = 1)]",
        "                    ^ expected boolean literal",
    );
    check_options(
        r#"#[tool(crate = "agcore::tools")]"#,
        "               ^^^^^^^^^^^^^^^ write the path without quotes: `crate = agcore::tools`",
    );
    check_options(
        "#[tool(read_only idempotent)]",
        "                 ^^^^^^^^^^ expected `,`",
    );
}

#[test]
fn rejects_invalid_permissions() {
    check_options(
        "#[tool(permissions(read, netwrok))]",
        "                         ^^^^^^^ unknown permission `netwrok`: expected read, write, delete, network, shell, \
         file_system, or a custom one as \"namespace:name\"",
    );
    check_options(
        r#"#[tool(permissions(read, "network"))]"#,
        "                         ^^^^^^^^^ a custom permission has the form \"namespace:name\"",
    );
    check_options(
        r#"#[tool(permissions("a:b", read, "a:b"))]"#,
        "                                ^^^^^ duplicate permission",
    );
    check_options(
        "#[tool(permissions())]",
        "       ^^^^^^^^^^^ the list of permissions is empty",
    );
    check_options(
        "#[tool(permissions = read)]",
        "       ^^^^^^^^^^^ write the permissions in parentheses",
    );
}

#[test]
fn rejects_a_tool_without_a_description() {
    check(
        "#[tool]\nasync fn add(a: i64) -> Result<i64, ToolError> { Ok(a) }",
        &[
            "async fn add(a: i64) -> Result<i64, ToolError> { Ok(a) }\n         ^^^ the tool has no description for the model",
        ],
    );
    check(
        "#[tool]\n#[doc = include_str!(\"add.md\")]\nasync fn add() -> Result<i64, ToolError> { Ok(0) }",
        &["#[doc = include_str!(\"add.md\")]\n        ^^^^^^^^^^^^^^^^^^^^^^ the doc comment must be literal text"],
    );
}

#[test]
fn rejects_unsupported_signatures() {
    check_signature(
        "fn add(a: i64) -> Result<i64, ToolError>",
        &["^^ a tool must be an async function: write `async fn`, or `#[tool(blocking)]`"],
    );
    check_signature(
        "async fn add<T: Copy>(a: T) -> Result<T, ToolError>",
        &["            ^^^^^^^^^ a tool cannot be generic"],
    );
    check_signature(
        "async fn add<'a>(a: i64) -> Result<i64, ToolError> where i64: 'a",
        &[
            "            ^^^^ a tool cannot be generic",
            "                                                   ^^^^^^^^^^^^^ a tool cannot have a `where` clause",
        ],
    );
    check_signature(
        "async fn add(&mut self, a: i64) -> Result<i64, ToolError>",
        &["             ^^^^^^^^^ a tool cannot be a method: take the data it needs as `State<T>`"],
    );
    check_signature(
        "async fn add(a: i64)",
        &["         ^^^ a tool must return what the model sees"],
    );
    check_signature(
        "async unsafe extern \"C\" fn add() -> Result<i64, ToolError>",
        &[
            "      ^^^^^^ a tool cannot be unsafe",
            "             ^^^^^^^^^^ a tool cannot declare an ABI",
        ],
    );
}

#[test]
fn an_option_without_its_underscore_is_recognized() {
    let item = "\n/// Adds.\nasync fn add(a: i64) -> Result<i64, ToolError> { Ok(a) }";
    check(
        &format!("#[tool(readonly)]{item}"),
        &["#[tool(readonly)]\n       ^^^^^^^^ unknown option `readonly`: did you mean `read_only`? expected one of"],
    );
    check(
        &format!("#[tool(writes)]{item}"),
        &["#[tool(writes)]\n       ^^^^^^ unknown option `writes`: expected one of"],
    );
}

#[test]
fn rejects_a_tool_that_only_reads_and_changes_something() {
    let item = "\n/// Adds.\nasync fn add(a: i64) -> Result<i64, ToolError> { Ok(a) }";
    for (options, underlined) in [
        ("permissions(read, write), read_only", "write"),
        ("read_only, permissions(delete)", "delete"),
        ("read_only, destructive", "destructive"),
    ] {
        let line = format!("#[tool({options})]");
        let column = line.find(underlined).unwrap();
        let mark = "^".repeat(underlined.len());
        check(
            &format!("{line}{item}"),
            &[&format!(
                "{line}\n{:column$}{mark} a `read_only` tool changes nothing",
                ""
            )],
        );
    }
    let valid = "read_only = false, destructive, permissions(write)";
    let parsed = Tool::parse(
        syn::parse_quote!(::agcore_tools),
        valid.parse().unwrap(),
        item.parse().unwrap(),
    );
    assert!(parsed.is_ok());
}

#[test]
fn rejects_a_blocking_tool_that_is_async() {
    check(
        "#[tool(blocking, description = \"Adds.\")]\nasync fn add(a: i64) -> Result<i64, ToolError> { Ok(a) }",
        &[
            "async fn add(a: i64) -> Result<i64, ToolError> { Ok(a) }\n^^^^^ a blocking tool is a plain function: remove `async`",
        ],
    );
}

#[test]
fn rejects_items_other_than_functions() {
    check(
        "#[tool]\nstruct Add;",
        &["struct Add;\n^^^^^^^^^^^ `#[tool]` must be on a function"],
    );
    check(
        "#[tool]\nasync fn add() -> Result<i64, ToolError> { Ok(1 +) }",
        &[
            "async fn add() -> Result<i64, ToolError> { Ok(1 +) }\n                                                 ^ unexpected end of input",
        ],
    );
}

#[test]
fn rejects_parameters_without_a_plain_name() {
    for pattern in ["Point { x, y }", "(x, y)", "ref point", "all @ _", "_"] {
        let mark = "^".repeat(pattern.len());
        check_parameter(
            &format!("{pattern}: Point"),
            &format!("{mark} an argument must have a plain name, which the model uses"),
        );
    }
}

#[test]
fn rejects_borrowed_and_unnamed_types() {
    check_parameter(
        "a: &str",
        "   ^^^^ arguments are deserialized from JSON and must be owned: use `String`",
    );
    check_parameter(
        "a: Option<Vec<&'static str>>",
        "              ^^^^^^^^^^^^ arguments are deserialized",
    );
    check_parameter(
        "a: impl Into<i64>",
        "   ^^^^^^^^^^^^^^ an argument must have a named type",
    );
}

#[test]
fn rejects_misplaced_attributes() {
    check_parameter("#[contxt] db: Db", "^^^^^^^^^ a parameter supports only doc comments,");
    check_parameter(
        "#[context] #[context] db: Db",
        "           ^^^^^^^^^^ `#[context]` is given twice",
    );
    check_parameter(
        "#[context(shared)] db: Db",
        "^^^^^^^^^^^^^^^^^^ `#[context]` takes no arguments",
    );
    check_parameter(
        "#[serde(default)] db: State<Db>",
        "^^^^^^^^^^^^^^^^^ this parameter is extracted from the context and never seen by the model",
    );
}

#[test]
fn rejects_too_many_context_parameters() {
    check_parameter(
        "a: State<A>, b: State<B>, #[context] c: C, x: i64, d: ToolContext, e: State<E>",
        "                                                                      ^^^^^^^^ a tool supports at most 4 values",
    );
}

#[test]
fn reports_all_mistakes_at_once() {
    check(
        "#[tool(nmae = \"x\")]\nfn add(&self, a: &str) {}",
        &[
            "#[tool(nmae = \"x\")]\n       ^^^^ unknown option",
            "fn add(&self, a: &str) {}\n       ^^^^^ a tool cannot be a method",
            "fn add(&self, a: &str) {}\n                 ^^^^ arguments are deserialized",
            "fn add(&self, a: &str) {}\n   ^^^ a tool must return",
        ],
    );
}
