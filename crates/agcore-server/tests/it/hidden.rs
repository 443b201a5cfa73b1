//! Data that users do not see: the input of jobs, and places and addresses of the operator.

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_flow_files::{FileFlow, FlowFile};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_server::{Server, ServerBuilder};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::{Value, json};

use crate::support::{FlowStore, Running, agent, flow_store, input};

const PATH: &str = "/srv/operator/flows/desk.flow.yaml";
const FLOW: &str = "
version: 1
kind: graph
nodes: {draft: {}}
edges: [{from: draft, to: end}]
agents: {author: {role: You write., goal: Write well., backstory: ''}}
tasks: {draft: {agent: author, description: 'Write about {{request}}.', expected_output: A text.}}
";

fn builder(provider: &ScriptedProvider, text: &str, store: &FlowStore) -> ServerBuilder {
    let file = FlowFile::parse(PATH, text, |_| Err("there are no other files".to_owned())).unwrap();
    let bundle = AgentBuilder::new().with_provider(provider.clone()).build().unwrap();
    let ada = agent(provider).build().unwrap();
    let builder = Server::builder()
        .with_agent("ada", ada, AgentSpec::new("ada", "Be Ada."))
        .with_flow("desk", FileFlow::builder(file, bundle));
    store.add_to(builder)
}

fn for_flow(thread: &str, job: bool) -> Value {
    let mut body = input(thread, "r1", "Tidy the vault at noon");
    body["forwardedProps"] = match job {
        true => json!({"agent": "desk", "job": {}}),
        false => json!({"agent": "desk"}),
    };
    body
}

#[tokio::test]
async fn a_title_comes_from_what_users_see() {
    let named = format!("{FLOW}name: Help desk");
    for (text, name) in [(FLOW, "desk"), (&named, "Help desk")] {
        let provider = ScriptedProvider::new([ScriptStep::text("Done."), ScriptStep::text("Done.")]);
        let server = Running::start(builder(&provider, text, &flow_store())).await;
        server.run(&for_flow("job", true)).await;
        server.run(&for_flow("chat", false)).await;
        let title = async |thread: &str| {
            let session = server.get(&format!("/api/v1/agent/sessions/{thread}")).await;
            session.json()["title"].clone()
        };
        assert_eq!(
            (title("job").await, title("chat").await),
            (json!(name), json!("Tidy the vault at noon"))
        );
        let list = server.get("/api/v1/agent/sessions").await.json();
        let titles: Vec<_> = list["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|session| &session["title"])
            .collect();
        assert!(titles.contains(&&json!(name)), "{list}");
        let agents = server.get("/api/v1/agent/agents").await;
        assert!(
            !agents.text.contains("/srv/operator") && !agents.text.contains(".yaml"),
            "{}",
            agents.text
        );
        assert_eq!(agents.json()["agents"][1]["description"], name);
        server.stop().await;
    }
}

#[tokio::test]
async fn errors_do_not_show_addresses_of_the_operator() {
    let error = || LlmError::new(LlmErrorKind::Authentication, "http://10.1.2.3:18080 refuses the key");
    let steps = [ScriptStep::error(error()), ScriptStep::error(error())];
    let server = Running::start(builder(&ScriptedProvider::new(steps), FLOW, &flow_store())).await;
    for (thread, body) in [("t", input("t", "r1", "Hello")), ("u", for_flow("u", false))] {
        let events = server.run(&body).await;
        let end = events.last().unwrap();
        assert_eq!(
            (&end["type"], &end["code"], &end["message"]),
            (
                &json!("RUN_ERROR"),
                &json!("auth"),
                &json!("the server may not use its model at the moment; contact its operator (run r1)")
            )
        );
        let history = server
            .get(&format!("/api/v1/agent/history?threadId={thread}"))
            .await
            .text;
        let session = server.get(&format!("/api/v1/agent/sessions/{thread}")).await;
        let all = format!("{events:?}{history}{}", session.text);
        assert!(!all.contains("10.1.2.3"), "{all}");
        assert_eq!(
            (&session.json()["status"], &session.json()["errorId"]),
            (&json!("failed"), &json!("auth"))
        );
    }
    server.stop().await;
}
