//! The log of requests and runs for operators, and details of the machine that users do not see.

use std::io::BufRead;

use serde_json::{Value, json};

use super::{Serving, flows, input};
use crate::support::{Agcore, Server};

impl Serving {
    /// Reads the log, which must be JSON, until a line with these members comes. Returns the line.
    fn logged(&mut self, expected: &Value) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(
                self.stderr.read_line(&mut line).unwrap(),
                0,
                "the log ended before {expected}"
            );
            let entry: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_ne!(entry["route"], "/health", "{line}");
            let mut members = expected.as_object().unwrap().iter();
            if members.all(|(name, value)| entry[name] == *value) {
                return entry;
            }
        }
    }
}

#[test]
fn each_line_of_the_log_names_its_context() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model).at_home();
    let mut serving = Serving::start(&agcore, &["--log", "info", "--log-format", "json"]);
    assert!(serving.ask("GET", "/health", "", "").contains("x-request-id: req-"));
    let path = "/api/v1/agent/run";
    let answer = serving.ask("POST", path, "x-request-id: mine\r\n", &input("t", "good day"));
    assert!(
        answer.contains("RUN_FINISHED") && answer.contains("x-request-id: mine"),
        "{answer}"
    );
    let request = json!({
        "message": "http_request", "level": "info", "method": "POST", "route": path, "status": 200, "request": "mine",
        "tenant": "local", "user": "local", "thread": "t", "run": "r",
    });
    let entry = serving.logged(&request);
    assert!(
        entry["duration_ms"].is_u64() && entry["time"].as_str().unwrap().len() == 24,
        "{entry}"
    );
    // The calls of models and the run itself.
    for name in ["chat gpt-5-mini", "run"] {
        serving.logged(&json!({"message": name, "thread": "t", "run": "r", "tenant": "local", "user": "local"}));
    }
    let answer = serving.ask("GET", "/api/v1/agent/sessions/none", "x-request-id: <b>\r\n", "");
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let id = body["request_id"].as_str().unwrap();
    assert!(id.starts_with("req-"), "{answer}");
    serving.logged(&json!({"request": id, "status": 404, "thread": "none"}));
}

#[test]
fn no_answer_has_a_path_of_the_machine() {
    let model = Server::playground();
    let agcore = flows::agcore(&model);
    let serving = Serving::start(&agcore, &["--trust-folder", "--tools"]);
    let mut answers = vec![serving.ask("POST", "/api/v1/agent/files?name=a.txt", "", "some text")];
    for (agent, thread, text) in [
        ("assistant", "t", "some arithmetic"),
        ("help", "u", "good day"),
        ("mine", "v", "good day"),
    ] {
        let path = format!("/api/v1/agent/agents/{agent}/run");
        answers.push(serving.ask("POST", &path, "", &input(thread, text)));
    }
    let document = serving.ask("GET", "/openapi.json", "", "");
    let document: Value = serde_json::from_str(document.split_once("\r\n\r\n").unwrap().1).unwrap();
    let mut count = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            let threads = if method == "DELETE" {
                vec!["none"]
            } else {
                vec!["t", "u", "v", "none"]
            };
            for thread in threads {
                let path = path
                    .replace("{thread}", thread)
                    .replace("{run}", "r")
                    .replace("{name}", "mine");
                let query = format!("?threadId={thread}&runId=r");
                answers.push(serving.ask(&method, &(path + &query), "", ""));
                count += 1;
            }
        }
    }
    assert!(count > 60, "{count}");
    let settings = agcore.settings_directory();
    for place in [agcore.directory.path(), settings.as_path()] {
        let place = place.to_str().unwrap();
        for answer in &answers {
            assert!(
                !answer.contains(place) && !answer.contains(".flow.yaml"),
                "{place}: {answer}"
            );
        }
    }
}
