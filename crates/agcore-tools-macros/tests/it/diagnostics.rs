//! The messages of the compiler about common mistakes: they contain the code to write.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

/// Returns the newest build of agcore-tools in the folder of this test.
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
        name.starts_with("libagcore_tools-") && name.ends_with(".rlib")
    };
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(is_library)
        .max_by_key(|path| built(path))
        .expect("agcore-tools is built")
}

/// Compiles a program that uses agcore-tools, and returns what the compiler prints.
fn compile(name: &str, code: &str) -> String {
    let library = library();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let source = folder.join("main.rs");
    fs::write(
        &source,
        format!("#![allow(unused, dead_code)]\nuse agcore_tools::*;\n{code}\nfn main() {{}}\n"),
    )
    .unwrap();
    let compiler = Path::new(env!("CARGO")).with_file_name("rustc");
    let output = Command::new(compiler)
        .args(["--edition=2024", "--emit=metadata", "--out-dir"])
        .arg(&folder)
        .arg("--extern")
        .arg(format!("agcore_tools={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", library.parent().unwrap().display()))
        .arg(source)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that the code compiles, and that the same code with a mistake is answered with these texts.
#[track_caller]
fn check(name: &str, right: &str, wrong: &str, expected: &[&str]) {
    let printed = compile(name, right);
    assert!(!printed.contains("error"), "{printed}");
    let printed = compile(name, wrong);
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
