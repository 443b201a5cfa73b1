//! A person at a terminal.

use std::process::Command;

use rexpect::{
    process::WaitStatus,
    reader::Options,
    session::{PtySession, spawn_with_options},
};

use crate::support::{Agcore, LIMIT, Server};

/// The end of what a question offers.
pub(crate) const QUESTION: &str = "[n]o: ";

/// No wait is longer.
pub(crate) fn limit() -> Options {
    Options::new().timeout_ms(Some(u64::try_from(LIMIT.as_millis()).unwrap()))
}

/// The program on the other end of a pseudo terminal.
pub(crate) struct Person {
    pub(crate) session: PtySession,
    pub(crate) agcore: Agcore,
}

/// The program on a terminal that shows what is typed, as terminals do and rexpect's do not.
fn echoing(agcore: &Agcore, arguments: &[&str]) -> Command {
    let program = agcore.command();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "stty echo && exec \"$0\" \"$@\""]);
    command.arg(program.get_program()).args(arguments);
    command.env_clear().current_dir(agcore.folder.path());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// A text as rexpect reads it, which takes each byte for a character.
pub(crate) fn as_bytes_are_read(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

impl Person {
    /// Sits down at a terminal; colours are taken out of what is seen.
    pub(crate) fn at(server: &Server, arguments: &[&str]) -> Self {
        Self::chatting(Agcore::talking_to(server), arguments)
    }

    /// Sits down at a chat in a folder.
    pub(crate) fn chatting(agcore: Agcore, arguments: &[&str]) -> Self {
        let mut person = Self::running(agcore, &[&["chat"], arguments].concat());
        person.sees("Ctrl-D leaves.");
        person.next();
        person
    }

    /// Runs any command at a terminal.
    pub(crate) fn running(agcore: Agcore, arguments: &[&str]) -> Self {
        let agcore = agcore.with("TERM", "xterm-256color");
        let command = echoing(&agcore, arguments);
        let session = spawn_with_options(command, limit().strip_ansi_escape_codes(true)).unwrap();
        Self { session, agcore }
    }

    /// Waits for the prompt.
    #[track_caller]
    pub(crate) fn next(&mut self) {
        self.sees("you\r\n");
        self.sees("> ");
    }

    /// Waits for a text, and gives what came before it.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let seen = self.session.exp_string(&as_bytes_are_read(text));
        let before = seen.unwrap_or_else(|error| panic!("{text:?} is not seen: {error}"));
        let bytes: Vec<u8> = before.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn types(&mut self, line: &str) {
        self.session.send_line(line).unwrap();
    }

    pub(crate) fn presses(&mut self, key: char) {
        self.session.send_control(key).unwrap();
    }

    /// Waits for the program to end.
    #[track_caller]
    pub(crate) fn leaves_with(mut self, code: i32) -> Agcore {
        self.session.exp_eof().unwrap();
        let status = self.session.process().wait().unwrap();
        assert!(
            matches!(status, WaitStatus::Exited(_, found) if found == code),
            "{status:?}"
        );
        self.agcore
    }
}
