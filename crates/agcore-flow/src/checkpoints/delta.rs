//! [`diff`]: what a value changes of the JSON that was written before, found while the value is serialized.
//!
//! Parts that are equal are compared where they are: nothing is allocated for them, so that a checkpoint of a long conversation
//! costs little more than one of a short one.

mod compound;
mod serializer;

use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation, jsonptr::PointerBuf};
use serde::Serialize;
use serde_json::{Error, Value};

/// Returns what turns `old` into the JSON form of `new`.
///
/// # Errors
/// When `new` has no JSON form.
pub(super) fn diff<T: Serialize + ?Sized>(old: &Value, new: &T) -> Result<Patch, Error> {
    let mut changes = Changes::default();
    new.serialize(Delta {
        changes: &mut changes,
        old,
    })?;
    Ok(Patch(changes.operations))
}

/// The changes that were found, and the place that is compared.
#[derive(Debug, Default)]
struct Changes {
    operations: Vec<PatchOperation>,
    /// A JSON Pointer.
    path: String,
}

/// Serializes a value by comparing it with what is at its place in the old JSON.
struct Delta<'a, 'o> {
    changes: &'a mut Changes,
    old: &'o Value,
}

impl Changes {
    /// Returns the place of the part that is compared. It is a valid pointer: all parts were escaped.
    fn pointer(&self) -> PointerBuf {
        PointerBuf::parse(self.path.as_str()).unwrap_or_default()
    }

    /// Does something at a part of this place.
    fn at<T>(&mut self, part: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push('/');
        for character in part.chars() {
            match character {
                '~' => self.path.push_str("~0"),
                '/' => self.path.push_str("~1"),
                other => self.path.push(other),
            }
        }
        let result = work(self);
        self.path.truncate(length);
        result
    }

    /// Compares a part with the old one, or adds it if there was none.
    fn compare<T: Serialize + ?Sized>(&mut self, part: &str, old: Option<&Value>, new: &T) -> Result<(), Error> {
        self.at(part, |changes| match old {
            Some(old) => new.serialize(Delta { changes, old }),
            None => {
                let value = serde_json::to_value(new)?;
                let path = changes.pointer();
                changes
                    .operations
                    .push(PatchOperation::Add(AddOperation { path, value }));
                Ok(())
            }
        })
    }

    fn replace(&mut self, value: Value) {
        let path = self.pointer();
        let operation = ReplaceOperation { path, value };
        self.operations.push(PatchOperation::Replace(operation));
    }

    fn remove(&mut self, part: &str) {
        let path = self.at(part, |changes| changes.pointer());
        self.operations.push(PatchOperation::Remove(RemoveOperation { path }));
    }
}

impl Delta<'_, '_> {
    /// Compares with a value that was built.
    fn value(self, new: Value) {
        if *self.old != new {
            self.changes.replace(new);
        }
    }
}

#[cfg(test)]
mod tests;
