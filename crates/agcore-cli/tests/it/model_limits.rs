//! The settings `[timeouts]`, `[retry]` and `[providers.NAME]`.

use agcore_testkit::mock_server::{ApiError, Fault, Hold, MockOptions, Point, RecordedRequest, Reply};
use serde_json::Value;

use crate::support::{Agcore, Server};

/// Returns a setting from `config --json`: its value, and where it is set.
fn setting(agcore: &Agcore, arguments: &[&str], name: &str) -> (String, String) {
    let ran = agcore.run([&["config", "--json"], arguments].concat());
    let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let settings = report["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["name"] == name).unwrap();
    let text = |member: &str| found[member].as_str().unwrap_or_default().to_owned();
    let place = match text("where") {
        place if place.is_empty() => text("source"),
        place => place,
    };
    (text("value"), place)
}

fn own(agcore: &Agcore) -> String {
    agcore.settings_directory().join("agcore.toml").display().to_string()
}

/// A server whose answers stop in the middle.
fn stalling() -> Server {
    let stall = |_: &RecordedRequest| {
        Reply::text("One two three four.").with_fault(Fault::Stall {
            at: Point::AfterEvents(2),
            hold: Hold::Forever,
        })
    };
    Server::start(MockOptions::new(), stall)
}

/// A server that is always overloaded.
fn overloaded() -> Server {
    Server::start(MockOptions::new(), |_: &RecordedRequest| {
        Reply::error(ApiError::new(503))
    })
}

#[test]
fn the_nearest_file_and_the_table_of_the_provider_come_first() {
    let agcore = Agcore::new().at_home().trusting();
    let check = |agcore: &Agcore, arguments: &[&str], name: &str, expected: (&str, &str)| {
        let (value, place) = setting(agcore, arguments, name);
        assert_eq!((value.as_str(), place.as_str()), expected, "{name}");
    };
    check(&agcore, &[], "timeouts.idle", ("1m", "default"));
    check(&agcore, &[], "timeouts.first_byte", ("2m", "default"));
    check(&agcore, &[], "retry.max_retries", ("3", "default"));
    check(&agcore, &[], "retry.budget", ("2m", "default"));

    let agcore = agcore.with_user_settings(
        "[timeouts]\nidle = '90s'\ntotal = 'off'\n[retry]\nbase = '500ms'\n\
         [providers.ollama]\ntimeouts = { idle = 600 }\nretry = { max_retries = 0 }\n",
    );
    let own = own(&agcore);
    check(&agcore, &[], "timeouts.idle", ("1m30s", &own));
    check(&agcore, &[], "timeouts.total", ("off", &own));
    check(&agcore, &[], "timeouts.connect", ("10s", "default"));
    check(&agcore, &[], "retry.base", ("500ms", &own));
    check(&agcore, &[], "retry.max_retries", ("3", "default"));
    let ollama = ["--model", "ollama:m"];
    check(&agcore, &ollama, "timeouts.idle", ("10m", &own));
    check(&agcore, &ollama, "timeouts.total", ("off", &own));
    check(&agcore, &ollama, "retry.max_retries", ("0", &own));

    let agcore = agcore.with_file("agcore.toml", "[timeouts]\nidle = '2m'\n");
    check(&agcore, &[], "timeouts.idle", ("2m", "agcore.toml"));
    check(&agcore, &ollama, "timeouts.idle", ("2m", "agcore.toml"));
    check(&agcore, &ollama, "retry.max_retries", ("0", &own));
}

#[test]
fn a_stalled_answer_names_the_setting_and_its_file() {
    let server = stalling();
    let agcore = Agcore::talking_to(&server).at_home().trusting();
    let agcore = agcore.with_file("agcore.toml", "[timeouts]\nidle = '250ms'\n");
    let stalled = "sent nothing for 0.25 s in the middle of the reply";
    agcore.run(["-p", "hi"]).assert_failed(
        4,
        &[
            stalled,
            "To wait for longer, raise `idle` in the table [timeouts] of agcore.toml, for example to \"10m\".",
        ],
    );
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_user_settings("[providers.openai.timeouts]\nidle = 0.25\n");
    let place = format!(
        "raise `idle` in the table [providers.openai.timeouts] of {}",
        own(&agcore)
    );
    agcore.run(["-p", "hi"]).assert_failed(4, &[stalled, &place]);
    // What is not set is added to the user's own file.
    let before = Server::start(MockOptions::new(), |_: &RecordedRequest| {
        Reply::text("Hi.").with_fault(Fault::Stall {
            at: Point::BeforeHeaders,
            hold: Hold::Forever,
        })
    });
    let agcore = Agcore::talking_to(&before)
        .at_home()
        .with_user_settings("retry = { max_retries = 0 }\n[timeouts]\nfirst_byte = '250ms'\n");
    let place = format!("raise `first_byte` in the table [timeouts] of {}", own(&agcore));
    agcore
        .run(["-p", "hi"])
        .assert_failed(4, &["did not start to reply within 0.25 s", &place]);
}

#[test]
fn requests_are_repeated_as_the_settings_say() {
    let requests = |settings: &str| {
        let server = overloaded();
        let agcore = Agcore::talking_to(&server).at_home().with_user_settings(settings);
        agcore.run(["-p", "hi"]).assert_failed(1, &["(HTTP 503)"]);
        server.requests().len()
    };
    assert_eq!(requests("[retry]\nmax_retries = 0\n"), 1);
    assert_eq!(requests("[retry]\nmax_retries = 5\nbase = '1ms'\ncap = '1ms'\n"), 6);
    assert_eq!(
        requests("[retry]\nmax_retries = 0\n[providers.openai.retry]\nmax_retries = 2\nbase = 0\n"),
        3
    );
    assert_eq!(
        requests("[providers.ollama.retry]\nmax_retries = 7\n[retry]\nmax_retries = 1\nbase = 0\n"),
        2
    );
}

#[test]
fn a_folder_that_is_not_trusted_changes_no_limits() {
    let server = overloaded();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_user_settings("[retry]\nmax_retries = 0\n")
        .with_file("agcore.toml", "[retry]\nmax_retries = 9\n");
    let ran = agcore.run(["-p", "hi"]);
    ran.assert_failed(1, &["(HTTP 503)", "agcore.toml (retry) is ignored"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn mistakes_have_a_place_and_a_proposal() {
    let check = |text: &str, texts: &[&str]| {
        let agcore = Agcore::new().at_home().with_file("own.toml", text);
        agcore.run(["config", "--config", "own.toml"]).assert_failed(2, texts);
    };
    check(
        "[timeouts]\nidel = '5m'\n",
        &["own.toml:2:1: unknown setting `idel`", "did you mean `idle`?"],
    );
    check(
        "[timeouts]\nidle = '5 minutes'\n",
        &["own.toml:2:8: `timeouts.idle`: expected a time such as \"90s\""],
    );
    check(
        "[retry]\nbudget = 'off'\n",
        &["own.toml:2:10: `retry.budget`: expected a time"],
    );
    check(
        "[providers.olama.timeouts]\nidle = 1\n",
        &["own.toml:1:12: ", "did you mean `ollama`?"],
    );
    // As for every setting, `config` only warns about an unknown one.
    let ran = Agcore::new()
        .at_home()
        .with_user_settings("timeout = 3\n")
        .run(["config"]);
    ran.assert_success();
    assert!(
        ran.stderr.contains("unknown setting `timeout`") && ran.stderr.contains("did you mean `timeouts`?"),
        "{}",
        ran.stderr
    );
}
