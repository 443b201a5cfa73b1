//! The messages of the compiler about common mistakes: they contain the code to write.
#![allow(clippy::disallowed_methods, reason = "the tests start the compiler")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

/// A program that needs the features of these tests.
const PROBE: &str = "use agcore::{AgentBuilder, tools::{output, tool}};";

/// Returns the newest build of agcore in the folder of this test that has all features that these tests need.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let built = |path: &Path| {
        fs::metadata(path)
            .and_then(|data| data.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libagcore-") && name.ends_with(".rlib")
    };
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut libraries: Vec<_> = files.filter(is_library).collect();
    libraries.sort_by_key(|path| std::cmp::Reverse(built(path)));
    let suits = |path: &PathBuf| !compile_with(path, "probe", PROBE).contains("error");
    libraries
        .into_iter()
        .find(suits)
        .expect("agcore is built with these features")
}

/// Compiles a program that uses this build of agcore, and returns what the compiler prints.
fn compile_with(library: &Path, name: &str, code: &str) -> String {
    // Tests run at the same time, in several processes and in several threads of one.
    static COMPILED: AtomicU64 = AtomicU64::new(0);
    let number = COMPILED.fetch_add(1, Ordering::Relaxed);
    let folder = format!("{name}-{}-{number}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    let source = folder.join("main.rs");
    fs::write(
        &source,
        format!("#![allow(unused, dead_code)]\n{code}\nfn main() {{}}\n"),
    )
    .unwrap();
    let compiler = Path::new(env!("CARGO")).with_file_name("rustc");
    let output = Command::new(compiler)
        .args(["--edition=2024", "--emit=metadata", "--out-dir"])
        .arg(&folder)
        .arg("--extern")
        .arg(format!("agcore={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", library.parent().unwrap().display()))
        .arg(source)
        .output()
        .unwrap();
    fs::remove_dir_all(folder).unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that the code compiles, and that the same code with a mistake is answered with these texts.
#[track_caller]
fn check(name: &str, right: &str, wrong: &str, expected: &[&str]) {
    let library = library();
    let compile = |code| compile_with(&library, name, &format!("use agcore::{{tools::*, *}};\n{code}"));
    let printed = compile(right);
    assert!(!printed.contains("error"), "{printed}");
    let printed = compile(wrong);
    for text in expected {
        assert!(printed.contains(text), "{text:?} is missing in:\n{printed}");
    }
}

#[test]
fn a_type_without_derives_cannot_be_an_argument() {
    let tool = "/// Draws.\n#[tool]\nasync fn draw(at: Point) -> Result<(), ToolError> { Ok(()) }";
    check(
        "argument",
        &format!("#[arguments]\nstruct Point {{ x: i64 }}\n{tool}"),
        &format!("struct Point {{ x: i64 }}\n{tool}"),
        &[
            "`Point` cannot be an argument of a tool",
            "write `#[arguments]`, from agcore-tools or from `agcore::tools`, above the declaration of `Point`",
        ],
    );
}

#[test]
fn a_nested_type_without_derives_is_named_first() {
    for attribute in ["arguments", "output"] {
        let around = format!("#[{attribute}]\nstruct Line {{ points: Option<Vec<Point>>, name: String }}");
        let point = "struct Point { x: i64 }";
        let expected = "`Point` cannot be part of a type that a model writes";
        check(
            &format!("nested-{attribute}"),
            &format!("#[{attribute}]\n{point}\n{around}"),
            &format!("{point}\n{around}"),
            &[
                expected,
                "write the attribute of the type around it, `#[output]` or `#[arguments]`, above the declaration of `Point`",
            ],
        );
    }
    let printed = compile_with(
        &library(),
        "nested-first",
        "use agcore::tools::*;\nstruct Point;\n#[output]\nenum Shape { Dot(Point) }",
    );
    let first = printed.lines().find(|line| line.starts_with("error"));
    assert!(
        first.is_some_and(|line| line.contains("`Point` cannot be part")),
        "{printed}"
    );
}

#[test]
fn a_function_that_typed_does_not_accept_is_explained() {
    let tool = |argument: &str| {
        format!(
            "#[arguments]\nstruct Good {{ x: i64 }}\nstruct Bad;\n\
             async fn draw(at: {argument}) -> Result<i64, ToolError> {{ Ok(1) }}\n\
             fn create() {{ let _ = typed(\"draw\", \"Draws.\", draw); }}"
        )
    };
    check(
        "function",
        &tool("Good"),
        &tool("Bad"),
        &[
            "this function cannot be a tool",
            "derives both `serde::Deserialize` and `agcore_tools::schemars::JsonSchema`",
            "it must return `Result<T, ToolError>`",
        ],
    );
}

#[test]
fn an_error_and_a_value_that_cannot_be_returned_are_explained() {
    let tool = |result: &str| {
        format!(
            "#[derive(Debug)]\nstruct Broken;\n/// Fails.\n#[tool]\nasync fn fail() -> Result<{result}> {{ todo!() }}"
        )
    };
    check(
        "error",
        &tool("(), String"),
        &tool("(), Broken"),
        &[
            "a tool cannot return the error `Broken`",
            "implement `std::error::Error` for it, or return `ToolError`, `String` or `Box<dyn Error + Send + Sync>`",
        ],
    );
    check(
        "value",
        &tool("i64, String"),
        &tool("Broken, String"),
        &[
            "a tool cannot return `Broken`",
            "derive it with `#[derive(serde::Serialize)]`",
        ],
    );
}

#[test]
fn what_is_neither_a_tool_nor_in_the_context_is_explained() {
    let register = |tool: &str| {
        format!(
            "/// Adds.\n#[tool]\nasync fn add(a: i64) -> Result<i64, ToolError> {{ Ok(a) }}\n\
             fn create() {{ let _ = ToolRegistry::new().register({tool}); }}"
        )
    };
    check(
        "tool",
        &register("add_tool()"),
        &register("Registration::new(add)"),
        &["is not a tool", "for a function `add`, register `add_tool()`"],
    );
    let tool = |ty: &str| {
        format!(
            "struct Db;\n/// Adds.\n#[tool]\nasync fn add(a: i64, #[context] db: {ty}) -> Result<i64, ToolError> {{ Ok(a) }}"
        )
    };
    check(
        "context",
        &tool("State<Db>"),
        &tool("Db"),
        &[
            "`Db` cannot be extracted from the context of a tool",
            "use `State<Db>` for a value",
        ],
    );
}

#[test]
fn a_type_without_the_attribute_cannot_be_an_answer() {
    let ask = |attribute: &str| {
        format!(
            "{attribute}\nstruct City {{ name: String }}\n\
             async fn ask(session: AgentSession) -> Result<String, AgentError> {{\n\
             let city = session.turn(\"?\").typed::<City>().await?.into_value()?;\nOk(city.name)\n}}"
        )
    };
    check(
        "answer",
        &ask("#[output]"),
        &ask(""),
        &[
            "`City` cannot be the type of an answer",
            "this does not implement both `Deserialize` and `JsonSchema`",
            "write `#[output]`, from `agcore::tools` or from agcore-tools, above the declaration of `City`",
        ],
    );
}

#[test]
fn a_turn_without_a_session_is_explained() {
    let ask = |agent: &str| {
        format!(
            "async fn ask(builder: AgentBuilder, bundle: agent::RuntimeBundle) -> Result<(), AgentError> {{\n\
             println!(\"{{}}\", {agent}.turn(\"Hello\").await?.text());\nOk(())\n}}"
        )
    };
    let expected = [
        "an agent has no turns before it has a session",
        "`agcore::agent(model).session()?.turn(\"Hello\")`",
    ];
    check("builder", &ask("builder.session()?"), &ask("builder"), &expected);
    check("bundle", &ask("bundle.new_session()"), &ask("bundle"), &expected);
}

#[test]
fn what_is_neither_a_model_nor_an_approver_is_explained() {
    let create =
        |model: &str| format!("fn create() -> Result<AgentBuilder, LlmError> {{ Ok(agcore::agent({model})) }}");
    check(
        "provider",
        &create("agcore::model(\"ollama:llama3.2\", \"\")?"),
        &create("\"ollama:llama3.2\""),
        &[
            "`&str` is not a provider of a model",
            "`agcore::model(\"openai:gpt-5-mini\", key)?`",
        ],
    );
    let create = |approver: &str| format!("fn create(builder: AgentBuilder) {{ builder.with_approver({approver}); }}");
    check(
        "approver",
        &create("SuspendingApprover"),
        &create("|_: &ApprovalRequest| Approval::once()"),
        &["is not an approver", "pass `SuspendingApprover`"],
    );
}
