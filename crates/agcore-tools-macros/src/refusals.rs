//! What is refused, where the error points, and what it says.

use proc_macro2::TokenStream;
use syn::{
    Token,
    parse::{Parse, ParseStream, Parser},
    token,
};

use crate::tool::Tool;

/// `#[tool(…)]` and the item under it.
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

/// The errors as a compiler shows them: the line, under it what is meant and the message.
fn errors(source: &str) -> String {
    let Source(options, item) = Source::parse.parse_str(source).expect("well-formed");
    let error = Tool::read(options, item).err().expect("a mistake");
    let shown = error.into_iter().map(|error| {
        let (start, end) = (error.span().start(), error.span().end());
        let line = source.lines().nth(start.line - 1).expect("a line");
        let underlined = "^".repeat(end.column.saturating_sub(start.column).max(1));
        let column = start.column;
        format!("{line}\n{:column$}{underlined} {error}", "")
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The errors are these, in this order: each is a line of the source, and under it the tokens and the message's
/// beginning.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let found = errors(source);
    let lines: Vec<&str> = found.lines().collect();
    let expected: Vec<&str> = expected.iter().flat_map(|error| error.lines()).collect();
    let fits = lines.len() == expected.len()
        && lines
            .iter()
            .zip(&expected)
            .all(|(line, expected)| line.starts_with(expected));
    assert!(fits, "found:\n{found}\nexpected:\n{}", expected.join("\n"));
}

/// A mistake in the brackets, over a function in order.
#[track_caller]
fn check_options(attribute: &str, expected: &str) {
    let source = format!("{attribute}\n/// Adds.\nasync fn add(a: i64) -> Result<i64, ToolError> {{ Ok(a) }}");
    check(&source, &[&format!("{attribute}\n{expected}")]);
}

/// A mistake in a parameter of a function otherwise in order.
#[track_caller]
fn check_parameter(parameter: &str, expected: &str) {
    let source = format!("#[tool]\n/// Adds.\nasync fn add(\n{parameter},\n) -> Result<i64, ToolError> {{ Ok(0) }}");
    check(&source, &[&format!("{parameter}\n{expected}")]);
}

/// A mistake in what stands between the attribute and the body.
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
fn an_option_that_is_not_there() {
    check_options(
        r#"#[tool(nmae = "x")]"#,
        "       ^^^^ there is no option `nmae`; there are name, description, title,",
    );
    check_options(
        "#[tool(read_only, fn)]",
        "                  ^^ there is no option `fn`;",
    );
    check_options(r#"#[tool("add")]"#, "       ^^^^^ expected ident");
}

#[test]
fn an_option_given_twice() {
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
fn an_option_with_a_wrong_value() {
    check_options("#[tool(name)]", "       ^^^^ `name` wants a value: write `name = …`");
    check_options("#[tool(title(x))]", "       ^^^^^ `title` wants a value");
    check_options("#[tool(name = NAME)]", "              ^^^^ expected string literal");
    check_options(
        r#"#[tool(name = "add two")]"#,
        "              ^^^^^^^^^ a tool's name is not empty and contains no white space",
    );
    check_options(
        "#[tool(description = 5)]",
        "                     ^ expected a text in quotes",
    );
    check_options(r#"#[tool(title = " ")]"#, "               ^^^ it says nothing");
    check_options(
        "#[tool(idempotent = 1)]",
        "                    ^ expected boolean literal",
    );
    check_options(
        r#"#[tool(crate = "agcore::tools")]"#,
        "               ^^^^^^^^^^^^^^^ a path stands without quotes: `crate = agcore::tools`",
    );
    check_options(
        "#[tool(read_only idempotent)]",
        "                 ^^^^^^^^^^ expected `,`",
    );
}

#[test]
fn permissions_that_are_none() {
    check_options(
        "#[tool(permissions(read, netwrok))]",
        "                         ^^^^^^^ there is no permission `netwrok`; there are read, write, delete, network, shell, \
         file_system, and your own as \"namespace:name\"",
    );
    check_options(
        r#"#[tool(permissions(read, "network"))]"#,
        "                         ^^^^^^^^^ a permission of your own is \"namespace:name\"",
    );
    check_options(
        r#"#[tool(permissions("a:b", read, "a:b"))]"#,
        "                                ^^^^^ it is named twice",
    );
    check_options("#[tool(permissions())]", "       ^^^^^^^^^^^ it names none");
    check_options(
        "#[tool(permissions = read)]",
        "       ^^^^^^^^^^^ write what it needs in brackets",
    );
}

#[test]
fn a_tool_that_says_nothing() {
    check(
        "#[tool]\nasync fn add(a: i64) -> Result<i64, ToolError> { Ok(a) }",
        &[
            "async fn add(a: i64) -> Result<i64, ToolError> { Ok(a) }\n         ^^^ the model is not told what this tool does",
        ],
    );
    check(
        "#[tool]\n#[doc = include_str!(\"add.md\")]\nasync fn add() -> Result<i64, ToolError> { Ok(0) }",
        &[
            "#[doc = include_str!(\"add.md\")]\n        ^^^^^^^^^^^^^^^^^^^^^^ only literal text can become the description",
        ],
    );
}

#[test]
fn a_function_that_is_no_tool() {
    check_signature(
        "fn add(a: i64) -> Result<i64, ToolError>",
        &["^^ a tool is an async function: write `async fn`"],
    );
    check_signature(
        "async fn add<T: Copy>(a: T) -> Result<T, ToolError>",
        &["            ^^^^^^^^^ a tool has no generics"],
    );
    check_signature(
        "async fn add<'a>(a: i64) -> Result<i64, ToolError> where i64: 'a",
        &[
            "            ^^^^ a tool has no generics",
            "                                                   ^^^^^^^^^^^^^ a tool has no generics, so there is",
        ],
    );
    check_signature(
        "async fn add(&mut self, a: i64) -> Result<i64, ToolError>",
        &["             ^^^^^^^^^ a tool is a function of its own: take what it needs as `State<T>`"],
    );
    check_signature(
        "async fn add(a: i64)",
        &["         ^^^ a tool gives back `Result<T, ToolError>`"],
    );
    check_signature(
        "async unsafe extern \"C\" fn add() -> Result<i64, ToolError>",
        &[
            "      ^^^^^^ a tool is safe to call",
            "             ^^^^^^^^^^ a tool has no ABI",
        ],
    );
}

#[test]
fn an_item_that_is_no_function() {
    check(
        "#[tool]\nstruct Add;",
        &["struct Add;\n^^^^^^^^^^^ `#[tool]` stands on an async function"],
    );
    check(
        "#[tool]\nasync fn add() -> Result<i64, ToolError> { Ok(1 +) }",
        &[
            "async fn add() -> Result<i64, ToolError> { Ok(1 +) }\n                                                 ^ unexpected end of input",
        ],
    );
}

#[test]
fn a_parameter_without_a_plain_name() {
    for pattern in ["Point { x, y }", "(x, y)", "ref point", "all @ _", "_"] {
        let mark = "^".repeat(pattern.len());
        check_parameter(
            &format!("{pattern}: Point"),
            &format!("{mark} an argument needs a plain name: the model gives it by that name"),
        );
    }
}

#[test]
fn a_parameter_that_cannot_be_read_from_json() {
    check_parameter(
        "a: &str",
        "   ^^^^ arguments are read from the model's JSON and owned: take `String`",
    );
    check_parameter(
        "a: Option<Vec<&'static str>>",
        "              ^^^^^^^^^^^^ arguments are read",
    );
    check_parameter(
        "a: impl Into<i64>",
        "   ^^^^^^^^^^^^^^ an argument has a type with a name",
    );
}

#[test]
fn an_attribute_in_a_wrong_place() {
    check_parameter(
        "#[contxt] db: Db",
        "^^^^^^^^^ on a parameter there can be doc comments,",
    );
    check_parameter(
        "#[context] #[context] db: Db",
        "           ^^^^^^^^^^ `#[context]` is given twice",
    );
    check_parameter(
        "#[context(shared)] db: Db",
        "^^^^^^^^^^^^^^^^^^ `#[context]` stands alone",
    );
    check_parameter(
        "#[serde(default)] db: State<Db>",
        "^^^^^^^^^^^^^^^^^ this parameter comes from the context, the model never sees it",
    );
}

#[test]
fn more_from_the_context_than_fits() {
    check_parameter(
        "a: State<A>, b: State<B>, #[context] c: C, x: i64, d: ToolContext, e: State<E>",
        "                                                                      ^^^^^^^^ a tool takes at most 4 values",
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    check(
        "#[tool(nmae = \"x\")]\nfn add(&self, a: &str) {}",
        &[
            "#[tool(nmae = \"x\")]\n       ^^^^ there is no option",
            "fn add(&self, a: &str) {}\n^^ a tool is an async function",
            "fn add(&self, a: &str) {}\n       ^^^^^ a tool is a function of its own",
            "fn add(&self, a: &str) {}\n                 ^^^^ arguments are read",
            "fn add(&self, a: &str) {}\n   ^^^ a tool gives back",
        ],
    );
}
