//! The models of agents and of a catalog.

use std::sync::Arc;

use agcore_agent::AgentSpec;
use agcore_catalog::{Catalog, Format};
use agcore_server::{Server, TrustedProxy};
use agcore_testkit::scripted::ScriptedProvider;
use http::Method;
use serde_json::{Value, json};

use crate::support::{InStore, Running, agent, store};

const CATALOG: &str = r#"
[[vendors]]
name = "one"
endpoints = [{ name = "chat", api = "deepseek", kinds = ["text"] }]
keys = [{ name = "team", secret = "${ONE_KEY}", users = ["*"] }]

[[vendors.models]]
name = "large"
context_window = 128000
max_output_tokens = 8000
capabilities = ["tools"]

[[vendors]]
name = "two"
endpoints = [{ name = "chat", api = "deepseek", kinds = ["text"] }]
keys = [{ name = "own", secret = "${TWO_KEY}", users = ["ann"] }]

[[vendors.models]]
name = "small"
"#;

#[tokio::test]
async fn models_are_those_of_agents_and_those_that_are_granted() {
    let provider = ScriptedProvider::new([]);
    let spec = AgentSpec::new("ada", "Be Ada.").with_model("large");
    let catalog = Catalog::parse("models.toml", Format::Toml, CATALOG).unwrap();
    let proxy = TrustedProxy::new(["127.0.0.1".parse().unwrap()]);
    let server = Server::builder()
        .with_agent("ada", agent(&provider).build().unwrap(), spec)
        .in_store(&store())
        .with_catalog(Arc::new(catalog))
        .with_authenticator(Arc::new(proxy));
    let server = Running::start(server).await;
    let models = async |user: &str| {
        let headers = [("x-agcore-user", user)];
        let answer = server.with(Method::GET, "/api/v1/agent/models", &headers, None).await;
        answer.json()["models"].as_array().unwrap().clone()
    };
    let large = |models: &[Value]| {
        let model = &models[0];
        assert_eq!((&model["model"], &model["agents"]), (&json!("large"), &json!(["ada"])));
        assert_eq!(
            (
                &model["contextWindow"],
                &model["maxOutputTokens"],
                &model["capabilities"]
            ),
            (&json!(128_000), &json!(8000), &json!(["tools"]))
        );
    };
    let ann = models("ann").await;
    large(&ann);
    assert_eq!(
        ann[1],
        json!({"provider": "two", "model": "small", "agents": [], "kind": "text", "capabilities": []})
    );
    let bob = models("bob").await;
    large(&bob);
    assert_eq!(bob.len(), 1, "{bob:?}");
    assert!(!serde_json::to_string(&ann).unwrap().contains("KEY"));
    server.stop().await;
}
