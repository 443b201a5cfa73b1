//! `[[serve.hooks]]`, and `agcore serve hooks`.

use std::{fs, process::Command};

use serde_json::Value;

use super::Serving;
use crate::support::{Agcore, Server};

const SECRET: &str = "the-secret-of-the-sender";

const HOOKS: &str = "
[[serve.hooks]]
id = 'issues'
verify = 'github'
secrets = ['ISSUES_SECRET']
events = ['issues.opened']
prompt = 'New: {{body.issue.title}}'

[[serve.hooks]]
id = 'jobs'
verify = 'bearer'
secret_files = ['jobs.secret']
delivery = { header = 'Idempotency-Key' }
";

fn agcore(model: &Server, hooks: &str) -> Agcore {
    let agcore = Agcore::talking_to(model).at_home().with_user_settings(hooks);
    fs::write(agcore.settings_directory().join("jobs.secret"), format!("{SECRET}\n")).unwrap();
    agcore.with("ISSUES_SECRET", SECRET)
}

#[test]
fn a_printed_request_starts_a_run() {
    let model = Server::playground();
    let agcore = agcore(&model, HOOKS);
    let file = agcore.settings_directory().join("issue.json");
    fs::write(&file, r#"{"action": "opened", "issue": {"title": "good day"}}"#).unwrap();
    agcore.run(["serve", "--check"]).assert_success();
    let serving = Serving::start(&agcore, &[]);
    let url = format!("http://{}", serving.address);
    let printed = agcore.run([
        "serve",
        "hooks",
        "curl",
        "issues",
        "--file",
        file.to_str().unwrap(),
        "--url",
        &url,
        "--event",
        "issues",
        "--delivery",
        "d1",
    ]);
    let command = printed.assert_success().to_owned();
    assert!(
        command.contains("X-Hub-Signature-256: sha256=") && !command.contains(SECRET),
        "{command}"
    );
    let Ok(sent) = Command::new("sh").args(["-c", &command]).output() else {
        return;
    };
    let answer: Value = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!(answer["status"], "started", "{answer}");
    let events = format!(
        "/api/v1/agent/runs/{}/events?runId={}",
        answer["threadId"].as_str().unwrap(),
        answer["runId"].as_str().unwrap()
    );
    assert!(serving.ask("GET", &events, "", "").contains("RUN_FINISHED"));
    let unsigned = serving.ask("POST", "/hooks/issues", "", "{}");
    assert!(unsigned.starts_with("HTTP/1.1 401"), "{unsigned}");
    let header = format!("authorization: Bearer {SECRET}\r\nidempotency-key: 1\r\n");
    let job = serving.ask("POST", "/hooks/jobs", &header, "{}");
    assert!(job.starts_with("HTTP/1.1 202"), "{job}");
}

#[test]
fn hooks_are_listed_without_their_secrets() {
    let model = Server::playground();
    let agcore = agcore(&model, HOOKS);
    let listed = agcore.run(["serve", "hooks", "list"]);
    let listed = listed.assert_success();
    assert!(
        listed.contains("/hooks/issues") && listed.contains("ready") && !listed.contains(SECRET),
        "{listed}"
    );
    let listed = agcore.run(["serve", "hooks", "list", "--json"]);
    let hooks: Value = serde_json::from_str(listed.assert_success()).unwrap();
    assert_eq!(hooks["hooks"][1]["secretFiles"][0], "jobs.secret", "{hooks}");
    let shown = agcore.run(["config"]);
    let shown = shown.assert_success();
    assert!(shown.contains("serve.hooks") && !shown.contains(SECRET), "{shown}");
    let bearer = agcore.run(["serve", "hooks", "curl", "jobs", "--file", "/dev/null"]);
    bearer.assert_failed(2, &["not valid JSON"]);
    agcore
        .run(["serve", "hooks", "curl", "none", "--file", "/dev/null"])
        .assert_failed(2, &["there is no hook `none`"]);
}

#[test]
fn hooks_that_cannot_be_used_are_reported_with_their_place() {
    let model = Server::playground();
    let check = |hooks: &str, problems: &[&str]| {
        let agcore = agcore(&model, hooks);
        let checked = agcore.run(["serve", "--check"]);
        checked.assert_failed(2, problems);
    };
    let github = |rest: &str| format!("[[serve.hooks]]\nid = 'a'\nverify = 'github'\n{rest}\n");
    let usable = "secrets = ['ISSUES_SECRET']";
    check(&github(""), &["agcore.toml:2:6: the hook `a`: it has no secret"]);
    check(
        &github("secrets = ['NOT_SET_AT_ALL']"),
        &["agcore.toml:4:12: the hook `a`", "NOT_SET_AT_ALL is not set"],
    );
    check(
        &github("secrets = ['ghp_secretsecret']"),
        &["agcore.toml:4:12:", "secrets are not written into the file"],
    );
    check(&github("secret_files = ['none']"), &["agcore.toml:4:17:", "none"]);
    let twice = github(usable) + &github(usable);
    check(&twice, &["agcore.toml:6:6: the hook `a`: another hook has this id"]);
    check(
        &github(&format!("{usable}\nflow = 'none'")),
        &["agcore.toml:5:8:", "there is no flow \"none\""],
    );
    check(
        &github(&format!("{usable}\nagent = 'eve'")),
        &["agcore.toml:5:9:", "`assistant`"],
    );
    check(
        &github(&format!("{usable}\nthread = '{{{{issue}}}}'")),
        &["agcore.toml:5:10:", "`body.issue`"],
    );
    check(
        &github(&format!("{usable}\nprompt = '{{{{#if x}}}}'")),
        &["agcore.toml:5:10:", "{{/if}}"],
    );
    check(&github(&format!("{usable}\nheader = 'X-A'")), &["remove `header`"]);
    check(
        "[[serve.hooks]]\nid = 'a'\nverify = 'bearer'\nsecrets = ['ISSUES_SECRET']\n",
        &["set `delivery`"],
    );
    let agcore = agcore(&model, &github("secrets = ['NOT_SET_AT_ALL']"));
    let doctor = agcore.run(["doctor"]);
    assert!(doctor.stdout.contains("NOT_SET_AT_ALL"), "{}", doctor.stdout);
}
