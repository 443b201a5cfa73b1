//! Tests of `agcore models`.

use agcore_demo::Playground;
use agcore_testkit::mock_server::MockOptions;

use crate::support::{Agcore, KEY, Server};

fn server() -> Server {
    let options = MockOptions::new()
        .with_models(["small-2", "Big-1", "small-1"])
        .with_key(KEY);
    Server::start(options, Playground::new())
}

#[test]
fn lists_models_by_name() {
    let server = server();
    let agcore = Agcore::talking_to(&server);
    let shown = agcore.run(["models"]);
    assert_eq!(
        shown.assert_success(),
        "Big-1      agcore-mock\nsmall-1    agcore-mock\nsmall-2    agcore-mock\n"
    );
    assert_eq!(
        agcore.run(["models", "--filter", "BIG"]).assert_success(),
        "Big-1    agcore-mock\n"
    );
}

#[test]
fn json_output_contains_everything() {
    let server = server();
    let ran = Agcore::talking_to(&server).run(["models", "--json", "--filter", "small-1"]);
    let models: serde_json::Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(models["models"][0]["id"], "small-1");
    assert_eq!(models["models"][0]["created"], 1_704_067_200);
    let none = Agcore::talking_to(&server).run(["models", "--json", "--filter", "none"]);
    assert_eq!(none.assert_success(), "{\n  \"models\": []\n}\n");
}

#[test]
fn reports_errors() {
    let server = server();
    let agcore = Agcore::talking_to(&server);
    agcore
        .run(["models", "--filter", "none"])
        .assert_failed(1, &["no model matches `none` (3 available)"]);
    agcore.run(["models", "--base-url", "ftp://x"]).assert_failed(2, &[]);
    let agcore = agcore.with("AGCORE_API_KEY", "sk-wrong");
    agcore
        .run(["models"])
        .assert_failed(3, &["(HTTP 401)", "check OPENAI_API_KEY"]);
    Agcore::new()
        .run(["models"])
        .assert_failed(3, &["the API key is missing"]);
    let url = server.base_url();
    drop(server);
    let down = Agcore::new().with("OPENAI_API_KEY", KEY).with("OPENAI_BASE_URL", &url);
    down.run(["models"]).assert_failed(4, &["connection refused"]);
}
