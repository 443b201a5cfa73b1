//! [`ObjectFinder`]: JSON objects among prose, piece by piece.

use serde_json::Value;

use super::PartialJson;

/// Finds the JSON objects of a text that comes piece by piece: bare, in a code fence, behind or before prose.
///
/// A brace that no key follows is prose. An object that breaks off after its first key is a broken answer: what comes behind
/// it is not looked at, as it may be a part of it.
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
    /// The object under way.
    reading: Option<PartialJson>,
    whole: Vec<Value>,
    /// Revisions of objects that are over.
    revision: u64,
    is_broken: bool,
}

impl ObjectFinder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more of the text.
    pub fn push(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() && !self.is_broken {
            let Some(reading) = &mut self.reading else {
                let Some(begin) = memchr::memchr(b'{', rest.as_bytes()) else {
                    return;
                };
                rest = &rest[begin..];
                self.reading = Some(PartialJson::new());
                continue;
            };
            rest = &rest[reading.push(rest)..];
            let over = reading.is_complete() || reading.is_broken();
            if let Some(object) = self.reading.take_if(|_| over) {
                self.end(object);
            }
        }
    }

    fn end(&mut self, object: PartialJson) {
        self.revision += object.revision() + 1;
        self.is_broken = object.is_broken() && object.has_key();
        if self.is_broken {
            // What was there of it stays to be seen.
            self.reading = Some(object);
        } else {
            self.whole.extend(object.into_whole());
        }
    }

    /// The newest object as far as it is there; none where nothing is but an opening brace.
    pub fn value(&self) -> Option<Value> {
        match &self.reading {
            Some(reading) if reading.has_key() => reading.value(),
            _ => self.whole.last().cloned(),
        }
    }

    /// Rises whenever [`value`](Self::value) may have changed.
    pub fn revision(&self) -> u64 {
        self.revision + self.reading.as_ref().map_or(0, PartialJson::revision)
    }

    /// Whether an object has begun that is not whole.
    pub fn is_inside(&self) -> bool {
        self.reading.as_ref().is_some_and(PartialJson::has_key)
    }

    /// The objects that are whole, in order; none when the last one is not.
    pub fn into_objects(self) -> Vec<Value> {
        if self.is_inside() { Vec::new() } else { self.whole }
    }
}
