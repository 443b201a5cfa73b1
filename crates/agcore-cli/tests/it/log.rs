//! The log on standard error.

use crate::support::{Agcore, Server};

#[test]
fn the_log_tells_of_models_and_tools_and_of_nothing_else() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "--log", "trace", "some arithmetic"]);
    assert!(ran.assert_done().contains("**arithmetic** says: "));
    for part in ["invoke_agent", "chat", "execute_tool", "gen_ai.usage.input_tokens"] {
        assert!(ran.stderr.contains(part), "no {part} in {}", ran.stderr);
    }
    // Others could log headers.
    for foreign in ["hyper", "reqwest", "rustls", "mio"] {
        assert!(!ran.stderr.contains(foreign), "{foreign} in {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("some arithmetic"), "what is said: {}", ran.stderr);
    let ran = agcore.run(["chat", "--log", "info", "--trace-content", "some arithmetic"]);
    ran.assert_done();
    assert!(ran.stderr.contains("some arithmetic"), "{}", ran.stderr);
}

#[test]
fn the_option_stands_over_the_variable_and_off_is_off() {
    let server = Server::playground();
    let is_logged = |agcore: &Agcore, arguments: &[&str]| {
        let ran = agcore.run([&["chat", "hi"], arguments].concat());
        ran.assert_done();
        ran.stderr.contains("invoke_agent")
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
        &["AGCORE_LOG: the log's level is off, error, warn, info, debug or trace"],
    );
    let ran = agcore.run(["chat", "hi", "--log", "loud"]);
    ran.assert_failed(2, &["invalid value 'loud'"]);
}

#[test]
fn a_folder_does_not_decide_what_is_told() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file(".env", "AGCORE_LOG=info\nAGCORE_TRACE_CONTENT=on\n");
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_done();
    assert!(!ran.stderr.contains("invoke_agent"), "{}", ran.stderr);
    let ran = agcore.run(["config"]);
    let shown = ran.assert_done();
    let content = shown.lines().find(|line| line.starts_with("trace_content")).unwrap();
    assert!(content.contains("off") && content.contains("default"), "{content}");
    for name in ["AGCORE_LOG", "AGCORE_TRACE_CONTENT"] {
        let warning = format!("warning: {name} counts in the environment only, not in .env");
        assert!(ran.stderr.contains(&warning), "{}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_chat_at_the_terminal_is_not_disturbed() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with("AGCORE_LOG", "info");
    let mut person = crate::person::Person::running(agcore, &["chat"]);
    person.sees("warning: the log is off, for this terminal shows the chat; `2> FILE` takes the log");
    person.next();
    person.types("hi");
    let shown = person.sees("tokens in");
    assert!(!shown.contains("invoke_agent"), "{shown}");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}
