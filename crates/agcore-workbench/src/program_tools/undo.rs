//! [`Undo`]: what the tools have changed in files, so that it can be taken back.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    approved::{Fingerprint, fingerprint_of},
    change::Change,
};

/// The contents that are kept, in bytes. Beyond that, the oldest turns are forgotten.
const MAX_KEPT: usize = 64 * 1024 * 1024;

/// The changes of files by turn, in the memory of the process.
#[derive(Debug, Default)]
pub struct Undo(Mutex<Vec<Turn>>);

/// A turn of the conversation.
#[derive(Debug, Default)]
struct Turn {
    /// Whether its message is no longer a part of the conversation.
    is_removed: bool,
    changes: Vec<Recorded>,
}

/// A change that was made.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    path: PathBuf,
    /// The content before, or `None` if the file did not exist.
    pub(super) before: Option<String>,
    pub(super) after: Fingerprint,
}

impl Undo {
    /// Notes that a turn starts, to which the next changes belong.
    pub fn start_turn(&self) {
        self.turns().push(Turn::default());
    }

    /// Notes that the messages of the last turns are no longer a part of the conversation. Their changes are undone together with
    /// the turn after which they came.
    pub fn remove_turns(&self, count: usize) {
        let mut turns = self.turns();
        let present = turns.iter_mut().rev().filter(|turn| !turn.is_removed);
        present.take(count).for_each(|turn| turn.is_removed = true);
    }

    /// Forgets all changes: another conversation follows.
    pub fn forget_turns(&self) {
        self.turns().clear();
    }

    /// Returns the files that were changed in the last `count` turns of the conversation, sorted.
    pub fn changed_in(&self, count: usize) -> Vec<PathBuf> {
        self.changes(count).into_keys().collect()
    }

    /// Returns the changes of each file in the last `count` turns, the oldest first.
    pub(super) fn changes(&self, count: usize) -> BTreeMap<PathBuf, Vec<Recorded>> {
        let turns = self.turns();
        let mut found: BTreeMap<PathBuf, Vec<Recorded>> = BTreeMap::new();
        for change in turns[start_of(&turns, count)..].iter().flat_map(|turn| &turn.changes) {
            found.entry(change.path.clone()).or_default().push(change.clone());
        }
        found
    }

    /// Forgets the changes of these files in the last `count` turns, because they were taken back.
    pub(super) fn forget(&self, count: usize, files: &[PathBuf]) {
        let mut turns = self.turns();
        let start = start_of(&turns, count);
        for turn in &mut turns[start..] {
            turn.changes.retain(|change| !files.contains(&change.path));
        }
    }

    /// Remembers a change that was made.
    pub(super) fn record(&self, change: &Change) {
        let mut turns = self.turns();
        if turns.is_empty() {
            turns.push(Turn::default());
        }
        if let Some(turn) = turns.last_mut() {
            turn.changes.push(Recorded {
                path: change.path.clone(),
                before: change.before.clone(),
                after: fingerprint_of(Some(&change.after)),
            });
        }
        let size = |turn: &Turn| turn.changes.iter().map(Recorded::size).sum::<usize>();
        while turns.len() > 1 && turns.iter().map(size).sum::<usize>() > MAX_KEPT {
            turns.remove(0);
        }
    }

    fn turns(&self) -> MutexGuard<'_, Vec<Turn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorded {
    fn size(&self) -> usize {
        self.before.as_ref().map_or(0, String::len)
    }
}

/// Returns the index of the first of the last `count` turns of the conversation. Removed turns in front of it belong to it.
fn start_of(turns: &[Turn], count: usize) -> usize {
    let present = turns.iter().enumerate().rev().filter(|(_, turn)| !turn.is_removed);
    let first = present.take(count).last().map_or(turns.len(), |(index, _)| index);
    let removed = turns[..first].iter().rev().take_while(|turn| turn.is_removed).count();
    first - removed
}
