//! [`ObjectFinder`]: finds JSON objects in prose, incrementally.

use serde_json::Value;

use super::PartialJson;

/// Finds the JSON objects in a text that arrives in pieces: bare, in a code fence, or surrounded by prose.
///
/// A brace that is not followed by a key counts as prose. An object that becomes invalid after its first key is a broken
/// answer: the rest of the text is ignored, because it may be a part of that object.
///
/// ```
/// use agcore_cycle::typed::ObjectFinder;
/// use serde_json::json;
///
/// let mut finder = ObjectFinder::new();
/// finder.push("Here {as asked} it is:\n```json\n{\"city\": \"Os");
/// assert_eq!(finder.value(), Some(json!({"city": "Os"})));
/// finder.push("lo\"}\n```");
/// assert_eq!(finder.into_objects(), [json!({"city": "Oslo"})]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ObjectFinder {
    /// The current object.
    current: Option<PartialJson>,
    complete: Vec<Value>,
    /// The revisions of the objects that have ended.
    revision: u64,
    /// Whether an object became invalid after its first key.
    is_broken: bool,
}

impl ObjectFinder {
    /// Creates a finder without any text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    pub fn push(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() && !self.is_broken {
            let Some(current) = &mut self.current else {
                let Some(start) = memchr::memchr(b'{', rest.as_bytes()) else {
                    return;
                };
                rest = &rest[start..];
                self.current = Some(PartialJson::new());
                continue;
            };
            rest = &rest[current.push(rest)..];
            let ended = current.is_complete() || current.is_invalid();
            if let Some(object) = self.current.take_if(|_| ended) {
                self.end(object);
            }
        }
    }

    fn end(&mut self, object: PartialJson) {
        self.revision += object.revision() + 1;
        self.is_broken = object.is_invalid() && object.has_key();
        if self.is_broken {
            // Its value so far stays available.
            self.current = Some(object);
        } else {
            self.complete.extend(object.into_complete());
        }
    }

    /// Returns the newest object so far. An object counts once its first key is complete.
    pub fn value(&self) -> Option<Value> {
        match &self.current {
            Some(current) if current.has_key() => current.value(),
            _ => self.complete.last().cloned(),
        }
    }

    /// Returns a number that increases whenever [`value`](Self::value) may have changed.
    pub fn revision(&self) -> u64 {
        self.revision + self.current.as_ref().map_or(0, PartialJson::revision)
    }

    /// Returns whether the newest object is incomplete.
    pub fn is_inside(&self) -> bool {
        self.current.as_ref().is_some_and(PartialJson::has_key)
    }

    /// Returns all objects in order, or none if the last one is incomplete.
    pub fn into_objects(self) -> Vec<Value> {
        if self.is_inside() { Vec::new() } else { self.complete }
    }
}
