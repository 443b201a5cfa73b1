//! The modes of the terminal: [`EchoOff`] while the program works, [`Cooked`] while another program uses the terminal.

use crate::process::print;

#[cfg(unix)]
pub(crate) use unix::suspend;
#[cfg(unix)]
pub use unix::{Cooked, EchoOff, discard_input};

/// Makes the terminal mark the beginning and the end of a pasted text, until dropped.
#[derive(Debug)]
pub struct BracketedPaste;

impl BracketedPaste {
    /// Turns the marks on.
    pub fn enter() -> Self {
        Self.resume();
        Self
    }

    /// Turns the marks on again after a line was read, which turns them off.
    pub fn resume(&self) {
        // Fails only if the terminal was closed.
        let _ = print("\u{1b}[?2004h");
    }
}

impl Drop for BracketedPaste {
    fn drop(&mut self) {
        let _ = print("\u{1b}[?2004l");
    }
}

#[cfg(unix)]
mod unix {
    use std::{
        io,
        sync::{Mutex, PoisonError},
        thread,
        time::Duration,
    };

    use rustix::{
        process::{Signal, kill_current_process_group},
        termios::{InputModes, LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr},
    };

    /// The modes from before the program changed them.
    static ORIGINAL: Mutex<Option<Termios>> = Mutex::new(None);

    /// The time that a stop of the process may take to reach all of its threads.
    const STOP_DELAY: Duration = Duration::from_millis(50);

    /// Turns off the terminal's echo until dropped. Input typed meanwhile does not mix with the output; it is kept for
    /// the next line that is read.
    #[derive(Debug)]
    pub struct EchoOff(Option<Modes>);

    /// The modes from before, and those without echo.
    #[derive(Debug)]
    struct Modes {
        before: Termios,
        silent: Termios,
    }

    impl EchoOff {
        /// Turns the echo off. Ctrl-C still raises a signal.
        pub fn enter() -> Self {
            Self::with(InputModes::empty())
        }

        /// Like [`enter`](Self::enter). Enter and Ctrl-J stay different keys.
        pub fn with_distinct_enter() -> Self {
            Self::with(InputModes::ICRNL | InputModes::INLCR)
        }

        fn with(removed: InputModes) -> Self {
            let Ok(before) = tcgetattr(io::stdin()) else {
                return Self(None);
            };
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            // Otherwise, Ctrl-C would discard what was typed before it.
            silent.local_modes.insert(LocalModes::NOFLSH);
            silent.input_modes.remove(removed);
            if tcsetattr(io::stdin(), OptionalActions::Now, &silent).is_err() {
                return Self(None);
            }
            let mut original = ORIGINAL.lock().unwrap_or_else(PoisonError::into_inner);
            original.get_or_insert_with(|| before.clone());
            Self(Some(Modes { before, silent }))
        }

        /// Turns the echo off again if a shell has turned it on meanwhile: after Ctrl-Z and `fg`.
        pub fn keep(&self) {
            if let Some(modes) = &self.0
                && tcgetattr(io::stdin()).is_ok_and(|now| now.local_modes.contains(LocalModes::ECHO))
            {
                set(&modes.silent);
            }
        }
    }

    impl Drop for EchoOff {
        fn drop(&mut self) {
            if let Some(modes) = &self.0 {
                set(&modes.before);
            }
        }
    }

    /// Restores the original modes until dropped, for another program.
    #[derive(Debug)]
    pub struct Cooked(Option<Termios>);

    impl Cooked {
        /// Restores the original modes.
        pub fn enter() -> Self {
            let ours = tcgetattr(io::stdin()).ok();
            if let Some(original) = &*ORIGINAL.lock().unwrap_or_else(PoisonError::into_inner) {
                set(original);
            }
            Self(ours)
        }
    }

    impl Drop for Cooked {
        fn drop(&mut self) {
            if let Some(ours) = &self.0 {
                set(ours);
            }
        }
    }

    /// Stops the program, as Ctrl-Z does, and returns when it continues.
    pub(crate) fn suspend() {
        let _cooked = Cooked::enter();
        if kill_current_process_group(Signal::TSTP).is_ok() {
            // The stop may reach this thread after the call has returned.
            thread::sleep(STOP_DELAY);
        }
    }

    fn set(modes: &Termios) {
        // Fails only if the terminal was closed.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
    }

    /// Discards input that was typed but not read yet, so that it does not answer the next question.
    pub fn discard_input() {
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

#[cfg(not(unix))]
pub use other::{Cooked, EchoOff, discard_input};

#[cfg(not(unix))]
mod other {
    /// Does nothing on this platform.
    #[derive(Debug)]
    pub struct EchoOff;

    impl EchoOff {
        /// Does nothing on this platform.
        pub fn enter() -> Self {
            Self
        }

        /// Does nothing on this platform.
        pub fn with_distinct_enter() -> Self {
            Self
        }

        /// Does nothing on this platform.
        pub fn keep(&self) {}
    }

    /// Does nothing on this platform.
    #[derive(Debug)]
    pub struct Cooked;

    impl Cooked {
        /// Does nothing on this platform.
        pub fn enter() -> Self {
            Self
        }
    }

    /// Does nothing on this platform.
    pub fn discard_input() {}
}
