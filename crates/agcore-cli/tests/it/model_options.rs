//! `--option`: parameters of the requests to the model.

use crate::support::{Agcore, Server};

#[test]
fn options_are_sent_to_the_model() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let options = ["--option", "temperature=0", "--option", "top_k=40"];
    agcore.run([&["-p", "hi"], &options[..]].concat()).assert_success();
    let request = server.requests()[0].json().clone();
    assert_eq!((&request["temperature"], &request["top_k"]), (&0.0.into(), &40.into()));
    for (option, reason) in [
        (
            "temperature=hot",
            "--option temperature: expected a number, found the text \"hot\"",
        ),
        ("temperature", "expected NAME=VALUE"),
        ("model=x", "use --model"),
    ] {
        agcore.run(["-p", "hi", "--option", option]).assert_failed(2, &[reason]);
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn options_are_for_all_agents_of_a_flow() {
    const FLOW: &str = "\
version: 1
kind: graph
nodes: {answer: {task: answer}}
edges: [{from: answer, to: end}]
agents: {helper: {role: You help., goal: Help., backstory: ''}}
tasks: {answer: {agent: helper, description: '{{request}}', expected_output: An answer.}}
";
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file("a.flow.yaml", FLOW);
    let run = ["flow", "run", "a.flow.yaml", "hi", "--option", "temperature=0"];
    agcore
        .run([&run[..], &["--option", "seed=1"]].concat())
        .assert_success();
    let request = server.requests()[0].json().clone();
    assert_eq!((&request["temperature"], &request["seed"]), (&0.0.into(), &1.into()));
    assert!(request["messages"].to_string().contains("hi"), "{request}");
    let wrong = ["flow", "run", "a.flow.yaml", "hi", "--option", "temperature=hot"];
    agcore.run(wrong).assert_failed(2, &["--option temperature: "]);
    assert_eq!(server.requests().len(), 1);
}
