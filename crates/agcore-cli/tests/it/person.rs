//! A simulated user at a terminal.

use std::process::Command;

use rexpect::{
    process::WaitStatus,
    reader::Options,
    session::{PtySession, spawn_with_options},
};

use crate::support::{Agcore, LIMIT, Server};

/// The end of the prompt that follows a question.
pub(crate) const QUESTION: &str = "[n]o: ";

/// Options with the time limit of each step.
pub(crate) fn limit() -> Options {
    Options::new().timeout_ms(Some(u64::try_from(LIMIT.as_millis()).unwrap()))
}

/// A user, connected to the program by a pseudoterminal.
pub(crate) struct Person {
    pub(crate) session: PtySession,
    pub(crate) agcore: Agcore,
}

/// Starts the program with the terminal's echo on: rexpect turns it off.
fn echoing(agcore: &Agcore, script: &str, arguments: &[&str]) -> Command {
    let program = agcore.command();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("stty echo && {script}")]);
    command.arg(program.get_program()).args(agcore.arguments(arguments));
    command.env_clear().current_dir(agcore.directory.path());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Converts a text to what rexpect reads: one character for each byte.
pub(crate) fn bytes_as_chars(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

impl Person {
    /// Starts a chat with a server. Escape codes are removed from the output.
    pub(crate) fn at(server: &Server, arguments: &[&str]) -> Self {
        Self::chatting(Agcore::talking_to(server), arguments)
    }

    /// Starts a chat with this program.
    pub(crate) fn chatting(agcore: Agcore, arguments: &[&str]) -> Self {
        let mut person = Self::running(agcore, &[&["chat"], arguments].concat());
        person.sees("Ctrl-D exits.");
        person.next();
        person
    }

    /// Starts any command at a terminal.
    pub(crate) fn running(agcore: Agcore, arguments: &[&str]) -> Self {
        Self::start(agcore, "exec \"$0\" \"$@\"", arguments)
    }

    /// Runs a shell script at a terminal. `$0` is the program.
    pub(crate) fn scripting(agcore: Agcore, script: &str) -> Self {
        Self::start(agcore, script, &[])
    }

    fn start(agcore: Agcore, script: &str, arguments: &[&str]) -> Self {
        // Titles would remain of their escape codes, and headings have a line of their own in most tests.
        let agcore = agcore
            .with("TERM", "xterm-256color")
            .with_default("AGCORE_STATUS", "off");
        let command = echoing(&agcore, script, arguments);
        let session = spawn_with_options(command, limit().strip_ansi_escape_codes(true)).unwrap();
        Self { session, agcore }
    }

    /// Waits for the prompt.
    #[track_caller]
    pub(crate) fn next(&mut self) {
        self.sees("you\r\n");
        self.sees("> ");
    }

    /// Waits for a text and returns the output before it.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let seen = self.session.exp_string(&bytes_as_chars(text));
        let before = seen.unwrap_or_else(|error| panic!("{text:?} did not appear: {error}"));
        let bytes: Vec<u8> = before.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Types a text and presses Enter.
    pub(crate) fn types(&mut self, line: &str) {
        self.keys(&format!("{line}\r"));
    }

    /// Sends keys as they are.
    pub(crate) fn keys(&mut self, keys: &str) {
        self.session.send(keys).unwrap();
        self.session.flush().unwrap();
    }

    pub(crate) fn presses(&mut self, key: char) {
        self.session.send_control(key).unwrap();
    }

    /// Waits for the program to exit.
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
