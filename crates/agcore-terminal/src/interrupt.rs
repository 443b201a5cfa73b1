//! [`Interrupts`]: handles Ctrl-C, depending on what the program is doing, SIGTERM and SIGHUP.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tokio_util::sync::CancellationToken;

/// Handles Ctrl-C. By default it exits the program; guards change that temporarily. SIGTERM and SIGHUP always exit the program.
#[derive(Debug, Clone)]
pub struct Interrupts(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    action: Mutex<Action>,
    exit: CancellationToken,
    /// Whether the program received SIGTERM or SIGHUP.
    is_terminated: AtomicBool,
}

#[derive(Debug, Clone)]
enum Action {
    /// Exits the program.
    Exit,
    /// Cancels a turn, or exits the program if the turn is already cancelled.
    Cancel(CancellationToken),
    /// Cancels a token, and never exits the program.
    Notify(CancellationToken),
    /// Does nothing: the line editor receives Ctrl-C as a key.
    Ignore,
}

impl Interrupts {
    /// Starts to listen. From now on Ctrl-C no longer kills the program by itself. Must be called within a runtime.
    pub fn listen() -> Self {
        let shared = Arc::new(Shared {
            action: Mutex::new(Action::Exit),
            exit: CancellationToken::new(),
            is_terminated: AtomicBool::new(false),
        });
        listen_for_termination(&shared);
        let listener = Arc::clone(&shared);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                listener.interrupt();
            }
        });
        Self(shared)
    }

    /// Waits until the program must exit. Cancel safe.
    pub async fn exit_requested(&self) {
        self.0.exit.cancelled().await;
    }

    /// Acts as if Ctrl-C had been pressed, for input that receives it as a key.
    pub fn press(&self) {
        self.0.interrupt();
    }

    /// Returns whether the program received SIGTERM or SIGHUP.
    pub fn is_terminated(&self) -> bool {
        self.0.is_terminated.load(Ordering::Acquire)
    }

    /// Makes the first Ctrl-C cancel the token, until the guard is dropped. A second one exits the program.
    pub fn cancel(&self, token: &CancellationToken) -> InterruptGuard {
        self.set(Action::Cancel(token.clone()))
    }

    /// Makes Ctrl-C cancel the token, until the guard is dropped. Unlike with [`cancel`](Self::cancel), more of them never
    /// exit the program.
    pub fn notify(&self, token: &CancellationToken) -> InterruptGuard {
        self.set(Action::Notify(token.clone()))
    }

    /// Ignores Ctrl-C until the guard is dropped.
    pub fn ignore(&self) -> InterruptGuard {
        self.set(Action::Ignore)
    }

    fn set(&self, action: Action) -> InterruptGuard {
        InterruptGuard {
            previous: self.0.replace(action),
            shared: Arc::clone(&self.0),
        }
    }
}

/// Starts to listen for SIGTERM, and for SIGHUP, with which a terminal that is closed ends its programs.
#[cfg(unix)]
fn listen_for_termination(shared: &Arc<Shared>) {
    use tokio::signal::unix::{SignalKind, signal};

    for kind in [SignalKind::terminate(), SignalKind::hangup()] {
        if kind == SignalKind::hangup() && hangups_are_ignored() {
            continue;
        }
        // Without a handler, the signal kills the program, as it does by default.
        let Ok(mut signals) = signal(kind) else {
            continue;
        };
        let listener = Arc::clone(shared);
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                listener.terminate();
            }
        });
    }
}

/// Returns whether the program was started with `nohup`, whose purpose a handler would defeat.
#[cfg(target_os = "linux")]
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is signal 1, the lowest bit.
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

/// Returns `false`: this platform does not say which signals are ignored.
#[cfg(all(unix, not(target_os = "linux")))]
fn hangups_are_ignored() -> bool {
    false
}

/// Does nothing: this platform has no SIGTERM.
#[cfg(not(unix))]
fn listen_for_termination(_: &Arc<Shared>) {}

impl Shared {
    /// Cancels the turn, if there is one, and exits.
    #[cfg(unix)]
    fn terminate(&self) {
        self.is_terminated.store(true, Ordering::Release);
        if let Action::Cancel(token) = &*self.action.lock().unwrap_or_else(PoisonError::into_inner) {
            token.cancel();
        }
        self.exit.cancel();
    }

    fn replace(&self, action: Action) -> Action {
        std::mem::replace(&mut self.action.lock().unwrap_or_else(PoisonError::into_inner), action)
    }

    fn interrupt(&self) {
        match &*self.action.lock().unwrap_or_else(PoisonError::into_inner) {
            Action::Ignore => {}
            Action::Notify(token) => token.cancel(),
            Action::Cancel(token) if !token.is_cancelled() => token.cancel(),
            Action::Cancel(_) | Action::Exit => self.exit.cancel(),
        }
    }
}

/// Restores the previous action of Ctrl-C when dropped.
#[derive(Debug)]
#[must_use = "the action is reset when the guard is dropped"]
pub struct InterruptGuard {
    previous: Action,
    shared: Arc<Shared>,
}

impl Drop for InterruptGuard {
    fn drop(&mut self) {
        self.shared.replace(std::mem::replace(&mut self.previous, Action::Exit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_latest_guard_decides_until_it_is_dropped() {
        let interrupts = Interrupts::listen();
        let press = || interrupts.0.interrupt();
        let is_exiting = || interrupts.0.exit.is_cancelled();
        let ignoring = interrupts.ignore();
        press();
        let token = CancellationToken::new();
        let turn = interrupts.cancel(&token);
        assert!(!token.is_cancelled());
        press();
        assert!(token.is_cancelled() && !is_exiting());
        drop(turn);
        press();
        assert!(!is_exiting(), "the outer guard no longer ignores Ctrl-C");
        drop(ignoring);
        press();
        assert!(is_exiting());
    }

    #[tokio::test]
    async fn a_second_ctrl_c_during_a_turn_exits() {
        let interrupts = Interrupts::listen();
        let _turn = interrupts.cancel(&CancellationToken::new());
        interrupts.0.interrupt();
        interrupts.0.interrupt();
        interrupts.exit_requested().await;
    }
}
