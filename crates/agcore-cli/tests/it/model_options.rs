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
        ("temperature=hot", "--option temperature: "),
        ("temperature", "expected NAME=VALUE"),
        ("model=x", "use --model"),
    ] {
        agcore.run(["-p", "hi", "--option", option]).assert_failed(2, &[reason]);
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn flows_have_parameters_of_their_own() {
    let ran = Agcore::new().run(["flow", "run", "a.flow.yaml", "hi", "--option", "temperature=0"]);
    ran.assert_failed(2, &["--option is not for flows"]);
}
