//! [`Interrupts`]: what Ctrl-C means at the moment.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// Listens for Ctrl-C. Unless something else is arranged, it ends the program.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    meaning: Mutex<Meaning>,
    leave: CancellationToken,
}

#[derive(Debug, Clone)]
enum Meaning {
    /// The program ends.
    Leave,
    /// A turn is cancelled; when it was already, the program ends.
    Cancel(CancellationToken),
    /// Nothing: whoever reads the terminal gets it as a key.
    Nothing,
}

impl Interrupts {
    /// Begins to listen. From now on Ctrl-C does not kill the program by itself. Must be called within a runtime.
    pub(crate) fn listen() -> Self {
        let shared = Arc::new(Shared {
            meaning: Mutex::new(Meaning::Leave),
            leave: CancellationToken::new(),
        });
        let listener = Arc::clone(&shared);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                listener.interrupt();
            }
        });
        Self(shared)
    }

    /// Waits until the program has to end. Cancel safe.
    pub(crate) async fn to_leave(&self) {
        self.0.leave.cancelled().await;
    }

    /// Until the guard is dropped the first Ctrl-C cancels the token; only a second one ends the program.
    pub(crate) fn cancel(&self, token: &CancellationToken) -> Meant {
        self.mean(Meaning::Cancel(token.clone()))
    }

    /// Until the guard is dropped Ctrl-C does nothing here.
    pub(crate) fn ignore(&self) -> Meant {
        self.mean(Meaning::Nothing)
    }

    fn mean(&self, meaning: Meaning) -> Meant {
        Meant {
            before: self.0.replace(meaning),
            shared: Arc::clone(&self.0),
        }
    }
}

impl Shared {
    fn replace(&self, meaning: Meaning) -> Meaning {
        std::mem::replace(
            &mut self.meaning.lock().unwrap_or_else(PoisonError::into_inner),
            meaning,
        )
    }

    fn interrupt(&self) {
        match &*self.meaning.lock().unwrap_or_else(PoisonError::into_inner) {
            Meaning::Nothing => {}
            Meaning::Cancel(token) if !token.is_cancelled() => token.cancel(),
            Meaning::Cancel(_) | Meaning::Leave => self.leave.cancel(),
        }
    }
}

/// A meaning of Ctrl-C; when dropped, the one before holds again.
#[derive(Debug)]
#[must_use = "the meaning holds until this is dropped"]
pub(crate) struct Meant {
    before: Meaning,
    shared: Arc<Shared>,
}

impl Drop for Meant {
    fn drop(&mut self) {
        self.shared.replace(std::mem::replace(&mut self.before, Meaning::Leave));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_newest_meaning_holds_until_it_is_dropped() {
        let interrupts = Interrupts::listen();
        let press = || interrupts.0.interrupt();
        let left = || interrupts.0.leave.is_cancelled();
        let quiet = interrupts.ignore();
        press();
        let token = CancellationToken::new();
        let turn = interrupts.cancel(&token);
        assert!(!token.is_cancelled());
        press();
        assert!(token.is_cancelled() && !left());
        drop(turn);
        press();
        assert!(!left(), "ignored again");
        drop(quiet);
        press();
        assert!(left());
    }

    #[tokio::test]
    async fn a_second_one_in_a_turn_ends_the_program() {
        let interrupts = Interrupts::listen();
        let _turn = interrupts.cancel(&CancellationToken::new());
        interrupts.0.interrupt();
        interrupts.0.interrupt();
        interrupts.to_leave().await;
    }
}
