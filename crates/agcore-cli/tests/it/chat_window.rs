//! The heading of the prompt, the title of the window, and notifications.

use rexpect::session::{PtySession, spawn_with_options};

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply};

use crate::{
    person::{bytes_as_chars, limit},
    support::{Agcore, Server},
};

/// Starts a chat in a terminal, with unfiltered output.
fn raw(agcore: &Agcore, variables: &[(&str, &str)], arguments: &[&str]) -> PtySession {
    let mut command = agcore.command();
    command.arg("chat").args(agcore.arguments(arguments));
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    spawn_with_options(command, limit()).unwrap()
}

#[track_caller]
fn sees(session: &mut PtySession, text: &str) -> String {
    let seen = session.exp_string(&bytes_as_chars(text));
    seen.unwrap_or_else(|error| panic!("{text:?} did not appear: {error}"))
}

fn leave(mut session: PtySession) -> String {
    session.send_control('d').unwrap();
    session.exp_eof().unwrap()
}

const SAVED: &str = "\u{1b}[22;2t";
const RESTORED: &str = "\u{1b}]2;\u{7}\u{1b}[23;2t";

#[test]
fn the_title_shows_the_session_and_what_it_does() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let mut session = raw(&agcore, &[], &["--name", "修\u{7}x"]);
    sees(&mut session, SAVED);
    sees(&mut session, "\u{1b}]2;修\u{fffd}x – agcore\u{7}");
    sees(&mut session, "> ");
    session.send("save it\r").unwrap();
    session.flush().unwrap();
    sees(&mut session, "\u{1b}]2;… 修\u{fffd}x – agcore\u{7}");
    let before = sees(&mut session, "\u{1b}]2;? 修\u{fffd}x – agcore\u{7}");
    // The turn was short, so that the bell does not ring.
    assert!(before.contains("[n]o: ") || !before.contains('\u{7}'), "{before:?}");
    session.send("n\r").unwrap();
    session.flush().unwrap();
    sees(&mut session, "\u{1b}]2;… ");
    sees(&mut session, "\u{1b}]2;修\u{fffd}x – agcore\u{7}");
    sees(&mut session, "> ");
    assert!(leave(session).contains(RESTORED));
}

#[test]
fn a_signal_restores_the_title() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let mut session = raw(&agcore, &[], &[]);
    sees(&mut session, SAVED);
    sees(&mut session, "> ");
    // With SIGTERM.
    session.process_mut().exit().unwrap();
    let rest = session.exp_eof().unwrap();
    assert!(rest.contains(RESTORED), "{rest:?}");
}

#[test]
fn without_colors_or_with_the_setting_nothing_is_changed() {
    let server = Server::playground();
    let off = "[terminal]\ntitle = false\nstatus = false\nnotify = 'off'\n";
    for (variables, settings) in [
        (vec![("NO_COLOR", "1")], ""),
        (vec![("AGCORE_STATUS", "off")], ""),
        (vec![("TERM", "linux")], ""),
        (vec![], off),
    ] {
        let agcore = Agcore::talking_to(&server).at_home().with_user_settings(settings);
        let mut session = raw(&agcore, &variables, &["--no-tools"]);
        let before = sees(&mut session, "> ");
        assert!(!before.contains("\u{1b}]") && !before.contains("[22;2t"), "{before:?}");
        let after = leave(session);
        assert!(!after.contains("\u{1b}]"), "{after:?}");
    }
}

#[test]
fn a_long_turn_notifies_at_its_end() {
    let answer = |_: &RecordedRequest| Reply::text("Done.");
    for (notify, program, expected) in [
        ("bell", "WezTerm", "\u{7}"),
        ("desktop", "WezTerm", "\u{1b}]9;agcore is done: hello – \u{7}"),
        ("desktop", "xterm", "\u{7}"),
    ] {
        let server = Server::start(MockOptions::new(), answer);
        let settings = format!("[terminal]\ntitle = false\nnotify = '{notify}'\nnotify_after = 0\n");
        let agcore = Agcore::talking_to(&server).at_home().with_user_settings(&settings);
        let mut session = raw(&agcore, &[("TERM_PROGRAM", program)], &["--name", "hello – "]);
        sees(&mut session, "> ");
        session.send("hello\r").unwrap();
        session.flush().unwrap();
        sees(&mut session, "Done.");
        sees(&mut session, expected.trim_end_matches(" \u{7}"));
        sees(&mut session, "> ");
        leave(session);
    }
}

#[test]
fn the_heading_shows_the_model_the_branch_and_the_context() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    std::fs::create_dir(agcore.directory.path().join(".git")).unwrap();
    std::fs::write(agcore.directory.path().join(".git/HEAD"), "ref: refs/heads/feat/x\n").unwrap();
    let mut session = raw(&agcore, &[], &["--model", "first"]);
    sees(&mut session, "first · feat/x");
    sees(&mut session, "> ");
    leave(session);
}
