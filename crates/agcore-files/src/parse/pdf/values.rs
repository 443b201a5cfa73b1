//! Limits how many values a PDF file has: a value of two bytes needs fifty in memory, and many times that in a compressed file.

use std::cell::Cell;

use lopdf::{Object, ObjectId};

use crate::{problem::FileProblem, work::Work};

/// The number of values of a file for each cell that a table may have. Values are numbers, names, texts, and what contains them.
const VALUES_PER_CELL: usize = 4;

/// The number of bytes that are inspected between two checks.
const CHUNK_BYTES: usize = 1 << 20;

thread_local! {
    /// The number of values that this thread may still load, or `None` if there were more. The library takes a function for
    /// each object, but no closure.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Fails if the file has too many values without decompressing anything, and prepares counting the others.
pub(super) fn start(work: &Work<'_>) -> Result<(), FileProblem> {
    LEFT.set(Some(limit(work)));
    let (mut values, mut is_apart) = (0, true);
    for chunk in work.content.chunks(CHUNK_BYTES) {
        work.check()?;
        for byte in chunk {
            let opens = matches!(byte, b'[' | b'(' | b'<' | b'/');
            let closes = byte.is_ascii_whitespace() || matches!(byte, b']' | b')' | b'>' | 0);
            values += usize::from(opens || (is_apart && !closes));
            is_apart = opens || closes;
        }
    }
    if values > limit(work) {
        Err(exceeded(work))
    } else {
        Ok(())
    }
}

/// Counts the values of an object, and keeps it as long as there are not too many.
pub(super) fn keep(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    let left = LEFT.get().and_then(|left| left.checked_sub(count(object)));
    LEFT.set(left);
    left.map(|_| (id, object.clone()))
}

/// Fails if objects were left out because there were too many values.
pub(super) fn finish(work: &Work<'_>) -> Result<(), FileProblem> {
    LEFT.get().map(|_| ()).ok_or_else(|| exceeded(work))
}

fn limit(work: &Work<'_>) -> usize {
    work.limits.cells.saturating_mul(VALUES_PER_CELL)
}

fn exceeded(work: &Work<'_>) -> FileProblem {
    work.exceeded(&format!("it has more than {} values", limit(work)))
}

fn count(object: &Object) -> usize {
    let mut values = 0;
    let mut stack = vec![object];
    while let Some(object) = stack.pop() {
        values += 1;
        match object {
            Object::Array(items) => stack.extend(items),
            Object::Dictionary(members) => stack.extend(members.iter().map(|(_, member)| member)),
            Object::Stream(stream) => stack.extend(stream.dict.iter().map(|(_, member)| member)),
            _ => {}
        }
    }
    values
}
