//! The flows of the user and of a trusted folder, and uploaded files.

use std::fs;

use super::{Serving, input};
use crate::support::{Agcore, Server};

const FLOW: &str = "version: 1
kind: graph
agents: people.yaml
nodes: {answer: {}}
edges: [{from: answer, to: end}]
tasks: {answer: {agent: helper, description: 'Repeat NAME: {{request}}', expected_output: A text.}}
";

const PEOPLE: &str = "helper: {role: You help., goal: Help well., backstory: ''}\n";

pub(super) fn agcore(model: &Server) -> Agcore {
    let agcore = Agcore::talking_to(model)
        .at_home()
        .with_user_settings("[serve]\nfiles = 'uploads'\n");
    let own = agcore.settings_directory().join("flows");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(agcore.settings_directory().join("uploads")).unwrap();
    for name in ["help", "mine"] {
        fs::write(own.join(format!("{name}.flow.yaml")), FLOW.replace("NAME", "the user")).unwrap();
    }
    fs::write(own.join("people.yaml"), PEOPLE).unwrap();
    fs::create_dir_all(agcore.directory.path().join(".agcore/flows")).unwrap();
    agcore
        .with_file(".agcore/flows/help.flow.yaml", &FLOW.replace("NAME", "the folder"))
        .with_file(".agcore/flows/people.yaml", PEOPLE)
}

#[test]
fn flows_are_offered_beside_the_agent() {
    let model = Server::playground();
    let agcore = agcore(&model);
    let serving = Serving::start(&agcore, &["--trust-folder"]);
    let agents = serving.ask("GET", "/api/v1/agent/agents", "", "");
    for name in ["assistant", "help", "mine"] {
        assert!(agents.contains(&format!(r#""name":"{name}""#)), "{agents}");
    }
    // The flow of the folder replaces that of the user with the same name.
    for (name, owner) in [("help", "the folder"), ("mine", "the user")] {
        let path = format!("/api/v1/agent/agents/{name}/run");
        let answer = serving.ask("POST", &path, "", &input(name, "good day"));
        assert!(answer.contains(&format!("Repeat {owner}: good day")), "{answer}");
        assert!(
            answer.contains(r#""stepName":"answer""#) && answer.contains("RUN_FINISHED"),
            "{answer}"
        );
    }
    let stored = serving.ask("POST", "/api/v1/agent/files?name=a.txt", "", "some text");
    assert!(
        stored.starts_with("HTTP/1.1 201") && stored.contains(r#""type":"text""#),
        "{stored}"
    );
}

#[test]
fn flows_of_a_folder_need_trust_and_broken_ones_are_reported() {
    let model = Server::playground();
    let untrusted = agcore(&model);
    let serving = Serving::start(&untrusted, &[]);
    let answer = serving.ask("POST", "/api/v1/agent/agents/help/run", "", &input("t", "good day"));
    assert!(answer.contains("Repeat the user: good day"), "{answer}");
    drop(serving);

    let own = untrusted.settings_directory().join("flows");
    fs::write(own.join("broken.flow.yaml"), "version: 1\nkind: round\n").unwrap();
    fs::write(own.join("assistant.flow.yaml"), FLOW).unwrap();
    let tools = FLOW.replace(
        "agents: people.yaml",
        "agents: {helper: {role: a, goal: b, backstory: c, tools: [nothing]}}",
    );
    fs::write(own.join("tools.flow.yaml"), tools).unwrap();
    for arguments in [vec!["serve", "--check"], vec!["serve", "--listen", "127.0.0.1:0"]] {
        untrusted.run(arguments).assert_failed(
            2,
            &[
                "5 problems",
                "broken.flow.yaml:2:",
                "assistant.flow.yaml: the agent of the server",
                "`nothing`",
            ],
        );
    }
}
