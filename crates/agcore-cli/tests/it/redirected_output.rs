//! Every command prints to standard output when that is a file.

use std::fs::{self, File};

use crate::support::{Agcore, RunOutput, Server};

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
