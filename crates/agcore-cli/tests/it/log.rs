//! The log on standard error.

use crate::support::{Agcore, Server};

#[test]
fn logs_only_agcore_crates_and_no_content() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "--log", "trace", "some arithmetic"]);
    assert!(ran.assert_success().contains("**arithmetic** returned: "));
    for part in [
        "turn assistant: ",
        "chat gpt-5-mini: ",
        "tool arithmetic: ",
        " in, ",
        " out, ",
    ] {
        assert!(ran.stderr.contains(part), "{part} is missing in {}", ran.stderr);
    }
    // Other crates could log headers.
    for foreign in ["hyper", "reqwest", "rustls", "mio"] {
        assert!(!ran.stderr.contains(foreign), "{foreign} in {}", ran.stderr);
    }
    assert!(
        !ran.stderr.contains("some arithmetic"),
        "the log contains the message: {}",
        ran.stderr
    );
    let ran = agcore.run(["chat", "--log", "info", "--trace-content", "some arithmetic"]);
    ran.assert_success();
    assert!(ran.stderr.contains("some arithmetic"), "{}", ran.stderr);
}

/// Returns the lines of the log, without their times.
fn log(stderr: &str) -> Vec<&str> {
    let lines = stderr
        .lines()
        .filter(|line| line.get(2..3) == Some(":") && line.get(5..6) == Some(":"));
    lines.map(|line| &line[9..]).collect()
}

#[test]
fn info_is_a_few_short_lines_for_each_turn() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "--log", "info", "some arithmetic"]);
    ran.assert_success();
    let lines = log(&ran.stderr);
    let starts = [
        "INFO  chat gpt-5-mini: ",
        "INFO  tool arithmetic: ",
        "INFO  chat gpt-5-mini: ",
        "INFO  turn assistant: ",
    ];
    assert_eq!(lines.len(), starts.len(), "{}", ran.stderr);
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start) && line.len() < 70, "{line}");
        assert!(line.ends_with(" ms") || line.ends_with(" s"), "{line}");
    }
    assert!(
        lines[0].contains(" in, ") && lines[0].contains(" out, "),
        "{}",
        lines[0]
    );
}

#[test]
fn debug_adds_requests_and_responses_without_secrets() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "--log", "debug", "some arithmetic"]);
    // Fails if the output contains the key.
    ran.assert_success();
    let lines = log(&ran.stderr);
    for start in [
        "DEBUG chat gpt-5-mini: started".to_owned(),
        format!("DEBUG POST {}/chat/completions, ", server.base_url()),
        "DEBUG HTTP 200; ".to_owned(),
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(&start)),
            "{start}: {}",
            ran.stderr
        );
    }
    assert!(ran.stderr.contains("response.finish_reasons="), "{}", ran.stderr);
    let is_argument = |line: &&str| line.contains("operation");
    assert!(
        !lines.iter().any(is_argument),
        "the arguments are in the log: {lines:?}"
    );
}

#[test]
fn a_failed_call_is_a_warning() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "--log", "warn", "error 400"]);
    ran.assert_failed(1, &["WARN  chat gpt-5-mini: failed (invalid_request), "]);
    assert_eq!(log(&ran.stderr).len(), 2, "{}", ran.stderr);
}

#[test]
fn the_option_overrides_the_variable() {
    let server = Server::playground();
    let is_logged = |agcore: &Agcore, arguments: &[&str]| {
        let ran = agcore.run([&["chat", "hi"], arguments].concat());
        ran.assert_success();
        ran.stderr.contains("turn assistant: ")
    };
    let agcore = Agcore::talking_to(&server);
    assert!(!is_logged(&agcore, &[]));
    let agcore = agcore.with("AGCORE_LOG", "Info");
    assert!(is_logged(&agcore, &[]));
    assert!(!is_logged(&agcore, &["--log", "off"]));
    assert!(!is_logged(&agcore, &["--log", "error"]));
    let agcore = agcore.with("AGCORE_LOG", "loud");
    agcore.run(["chat", "hi"]).assert_failed(
        2,
        &["AGCORE_LOG: unknown log level; expected off, error, warn, info, debug or trace"],
    );
    let ran = agcore.run(["chat", "hi", "--log", "loud"]);
    ran.assert_failed(2, &["invalid value 'loud'"]);
}

#[test]
fn dotenv_cannot_enable_logging() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .trusting()
        .with_file(".env", "AGCORE_LOG=info\nAGCORE_TRACE_CONTENT=on\n");
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_success();
    assert!(!ran.stderr.contains("turn assistant: "), "{}", ran.stderr);
    let ran = agcore.run(["config"]);
    let shown = ran.assert_success();
    let content = shown.lines().find(|line| line.starts_with("trace_content")).unwrap();
    assert!(content.contains("off") && content.contains("default"), "{content}");
    for name in ["AGCORE_LOG", "AGCORE_TRACE_CONTENT"] {
        let warning = format!("warning: {name} is ignored in .env; set it in the environment");
        assert!(ran.stderr.contains(&warning), "{}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn the_log_is_off_while_a_chat_uses_the_terminal() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with("AGCORE_LOG", "info");
    let mut person = crate::person::Person::running(agcore, &["chat"]);
    person.sees("warning: the log is off because the chat uses this terminal; redirect it with `2> FILE`");
    person.next();
    person.types("hi");
    let shown = person.sees("tokens in");
    assert!(!shown.contains("turn assistant: "), "{shown}");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}
