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
    let mut operations = Vec::new();
    new.serialize(Delta {
        operations: &mut operations,
        place: Place::ROOT,
        old,
    })?;
    Ok(Patch(operations))
}

/// The place of a part: a member or an item of another place. It is written as a pointer only if the value there has changed.
#[derive(Debug, Clone, Copy)]
struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    part: Part<'p>,
}

#[derive(Debug, Clone, Copy)]
enum Part<'p> {
    Name(&'p str),
    Index(usize),
}

/// Serializes a value by comparing it with the value at its place in the old JSON.
struct Delta<'a, 'o, 'p> {
    operations: &'a mut Vec<PatchOperation>,
    place: Place<'p>,
    old: &'o Value,
}

impl<'p> Place<'p> {
    const ROOT: Self = Self {
        parent: None,
        part: Part::Name(""),
    };

    fn member(&'p self, name: &'p str) -> Self {
        let part = Part::Name(name);
        let parent = Some(self);
        Self { parent, part }
    }

    fn item(&'p self, index: usize) -> Self {
        let part = Part::Index(index);
        let parent = Some(self);
        Self { parent, part }
    }

    fn pointer(&self) -> PointerBuf {
        let mut parts = Vec::new();
        let mut place = self;
        while let Some(parent) = place.parent {
            parts.push(place.part);
            place = parent;
        }
        let mut pointer = PointerBuf::new();
        for part in parts.into_iter().rev() {
            match part {
                Part::Name(name) => pointer.push_back(name),
                Part::Index(index) => pointer.push_back(index),
            }
        }
        pointer
    }
}

/// Compares a part with the old one, or adds it if there was none.
fn compare<T: Serialize + ?Sized>(
    operations: &mut Vec<PatchOperation>,
    place: Place<'_>,
    old: Option<&Value>,
    new: &T,
) -> Result<(), Error> {
    match old {
        Some(old) => new.serialize(Delta { operations, place, old }),
        None => {
            let (path, value) = (place.pointer(), serde_json::to_value(new)?);
            operations.push(PatchOperation::Add(AddOperation { path, value }));
            Ok(())
        }
    }
}

fn remove(operations: &mut Vec<PatchOperation>, place: Place<'_>) {
    let path = place.pointer();
    operations.push(PatchOperation::Remove(RemoveOperation { path }));
}

impl Delta<'_, '_, '_> {
    /// Compares with a value that was built.
    fn value(self, new: Value) {
        if *self.old != new {
            self.replace(new);
        }
    }

    fn replace(self, value: Value) {
        let path = self.place.pointer();
        let operation = ReplaceOperation { path, value };
        self.operations.push(PatchOperation::Replace(operation));
    }
}

#[cfg(test)]
mod tests;
