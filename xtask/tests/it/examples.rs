//! The examples, each run offline and with a model.

use crate::fixture::Fixture;

/// Prints its URL, and logs a line for each connection.
const SERVER: &str = r##"//! A server.
use std::io::{Read as _, Write as _};

fn main() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    std::thread::spawn(move || listener.accept().is_ok().then(|| eprintln!("#1 /v1")));
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
"##;

/// Connects to the model, if there is one, until the server has logged a connection and stops listening.
const USES_MODEL: &str = r#"//! Uses the model.
fn main() {
    match std::env::var("AGCORE_BASE_URL") {
        Ok(url) => while std::net::TcpStream::connect(&url).is_ok() {},
        Err(_) => println!("offline"),
    }
}
"#;

const IGNORES_MODEL: &str = "//! Ignores the model.\nfn main() {\n    println!(\"offline\");\n}\n";

fn workspace() -> Fixture {
    let workspace = Fixture::new();
    workspace.replace(
        "Cargo.toml",
        "members = [\"crates/*\"]",
        "members = [\"crates/*\", \"examples\"]",
    );
    let manifest = "[package]\nname = \"agcore-examples\"\nversion.workspace = true\nedition.workspace = true\n\
                    [[example]]\nname = \"one\"\npath = \"one.rs\"\n";
    workspace.write("examples/Cargo.toml", manifest);
    workspace.write("examples/src/lib.rs", "//! Nothing.\n");
    workspace.write("examples/output/one.txt", "offline\n");
    workspace.write("crates/agcore-testkit/src/bin/agcore-mock.rs", SERVER);
    workspace
}

#[test]
fn runs_each_example_offline_and_with_a_model() {
    let workspace = workspace();
    workspace.write("examples/one.rs", USES_MODEL);
    let ran = workspace.xtask("test");
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(
        ran.text.contains("ok       test example one with a model"),
        "{}",
        ran.text
    );
}

#[test]
fn finds_an_example_that_ignores_the_model() {
    let workspace = workspace();
    workspace.write("examples/one.rs", IGNORES_MODEL);
    workspace
        .xtask("test")
        .fails("test example one with a model", &["received no request"]);
}

#[test]
fn finds_an_example_that_prints_something_else() {
    let workspace = workspace();
    workspace.write("examples/one.rs", USES_MODEL);
    workspace.write("examples/output/one.txt", "online\n");
    workspace.xtask("test").fails(
        "test example one",
        &["the output differs from the expected one", "offline"],
    );
}
