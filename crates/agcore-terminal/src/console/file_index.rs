//! [`FileIndex`]: the names of the files that a message can mention, found in the background.

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use super::fuzzy::FileName;

/// Returns the paths of the files, with slashes. Called in a thread of its own.
pub type FileSource = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// The time that the first letter after `@` waits for the names.
const PATIENCE: Duration = Duration::from_millis(150);

/// The names of files. Clones share them.
#[derive(Clone, Default)]
pub(super) struct FileIndex {
    source: Option<FileSource>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    names: Option<Arc<Vec<FileName>>>,
    /// Whether the names were looked for since the line was started.
    is_fresh: bool,
    is_running: bool,
}

impl FileIndex {
    /// Creates the index of the files of a source, which is asked when they are needed.
    pub(super) fn new(source: FileSource) -> Self {
        Self {
            source: Some(source),
            ..Self::default()
        }
    }

    /// Starts a line: files may have appeared since the last one.
    pub(super) fn start_line(&self) {
        self.state().is_fresh = false;
    }

    /// Returns whether there is a source.
    pub(super) fn has_source(&self) -> bool {
        self.source.is_some()
    }

    /// Returns the names that are known, and looks for them again once in each line. `None` while they are looked for for the first
    /// time.
    pub(super) fn names(&self) -> Option<Arc<Vec<FileName>>> {
        let source = self.source.as_ref()?;
        let mut state = self.state();
        if !state.is_fresh {
            state.is_fresh = true;
            if !std::mem::replace(&mut state.is_running, true) {
                self.look(Arc::clone(source));
            }
            let waited = self
                .shared
                .ready
                .wait_timeout_while(state, PATIENCE, |state| state.is_running);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.names.clone()
    }

    fn look(&self, source: FileSource) {
        let shared = Arc::clone(&self.shared);
        thread::spawn(move || {
            let names = source().into_iter().map(FileName::new).collect();
            let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
            (state.names, state.is_running) = (Some(Arc::new(names)), false);
            shared.ready.notify_all();
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for FileIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileIndex").field(&self.has_source()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn files_are_looked_for_once_in_each_line() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let index = FileIndex::new(Arc::new(move || {
            vec![format!("{}.rs", counted.fetch_add(1, Ordering::SeqCst))]
        }));
        let wait = |expected: &str| {
            loop {
                if let Some(names) = index.names().filter(|names| names[0].path == expected) {
                    return names.len();
                }
                thread::yield_now();
            }
        };
        assert_eq!(wait("0.rs"), 1);
        index.names();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        index.start_line();
        assert_eq!(wait("1.rs"), 1);
        assert!(FileIndex::default().names().is_none());
    }
}
