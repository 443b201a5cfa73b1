//! [`TerminalMode`]: the mode of the terminal when the program started, to restore it when a signal ends the program.

#[cfg(unix)]
pub use unix::TerminalMode;

#[cfg(unix)]
mod unix {
    use std::io::{self, IsTerminal, Write};

    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

    use crate::window::restore_title;

    /// Turns off bracketed paste, which the line editor turns on.
    const END_BRACKETED_PASTE: &str = "\u{1b}[?2004l";

    /// The mode of the terminal.
    #[derive(Debug)]
    pub struct TerminalMode(Option<Termios>);

    impl TerminalMode {
        /// Saves the mode, if standard input is a terminal.
        pub fn save() -> Self {
            Self(tcgetattr(io::stdin()).ok())
        }

        /// Restores the mode. The thread that reads a line, which changes the mode, cannot be stopped.
        pub fn restore(&self) {
            let Some(mode) = &self.0 else { return };
            // Fails only if the terminal was closed.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, mode);
            if io::stdout().is_terminal() {
                restore_title();
                let _ = write!(io::stdout(), "{END_BRACKETED_PASTE}").and_then(|()| io::stdout().flush());
            }
        }
    }
}

#[cfg(not(unix))]
pub use other::TerminalMode;

#[cfg(not(unix))]
mod other {
    /// Does nothing on this platform.
    #[derive(Debug)]
    pub struct TerminalMode;

    impl TerminalMode {
        /// Does nothing on this platform.
        pub fn save() -> Self {
            Self
        }

        /// Does nothing on this platform.
        pub fn restore(&self) {}
    }
}
