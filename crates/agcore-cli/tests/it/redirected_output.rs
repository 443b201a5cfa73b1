//! Every command prints to standard output when that is a file.

use std::fs::{self, File};

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply};

use crate::support::{Agcore, RunOutput, Server};

/// Programs get what the model wrote, with the line ends of its files and characters that would control a terminal.
#[test]
fn an_answer_in_a_pipe_is_not_changed() {
    const ANSWER: &str = "a\r\nb\tc\u{c}\u{1b}[31md\u{202e}e\u{a0}\u{200b}\r\n";
    let server = Server::start(MockOptions::new(), |_: &RecordedRequest| Reply::text(ANSWER));
    let agcore = Agcore::talking_to(&server);
    for arguments in [
        &["-p", "hi"][..],
        &["-p", "hi", "-q"],
        &["chat", "hi"],
        &["-p", "hi", "--no-tools"],
    ] {
        assert_eq!(agcore.run(arguments).stdout, ANSWER, "{arguments:?}");
    }
    let server = Server::start(MockOptions::new(), |_: &RecordedRequest| Reply::text("a\rb"));
    let ran = Agcore::talking_to(&server).run(["-p", "hi"]);
    assert_eq!(ran.stdout, "a\rb\n", "the last line is ended");
}

#[test]
fn every_command_prints_to_a_file() {
    let server = Server::playground();
    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let agcore = Agcore::talking_to(&server).with_file("body.txt", body);
    let commands: [(&[&str], &str); 13] = [
        (&["--help"], "Usage: agcore"),
        (&["--version"], "agcore "),
        (&["demo"], "save_note"),
        (&["chat", "hi"], "> hi"),
        (&["-p", "hi"], "> hi"),
        (&["hi"], "> hi"),
        (&["tools", "list"], "arithmetic: "),
        (&["tools", "show", "save_note"], "\"parameters\""),
        (&["tools", "call", "current_time"], "Z\n"),
        (&["models"], "mock"),
        (&["config"], "model"),
        (&["doctor"], "terminal"),
        (&["inspect", "stream", "body.txt", "--dialect", "openai-chat"], "hi"),
    ];
    for (arguments, expected) in commands {
        let path = agcore.directory.path().join("out.txt");
        let mut command = agcore.command();
        command.args(arguments).stdout(File::create(&path).unwrap());
        let ran: RunOutput = command.stdin(std::process::Stdio::null()).output().unwrap().into();
        let printed = fs::read_to_string(&path).unwrap();
        assert!(printed.contains(expected), "{arguments:?}: {printed}\n{}", ran.stderr);
        assert!(!printed.contains('\u{1b}'), "{arguments:?}: {printed}");
    }
}
