//! [`PartialJson`]: the value of a JSON text of which only the beginning is there; [`ObjectFinder`] finds one in prose.

mod finder;
mod string;

pub use finder::ObjectFinder;

use serde_json::{Map, Value};

use self::string::{Read, StringReader};

/// As deep as `serde_json` reads.
const DEPTH: usize = 127;

/// Reads JSON piece by piece and says at any time what is there so far.
///
/// What it says is a beginning of what the whole text would give: members and items that have begun, strings as far as they
/// came, numbers and words only when they are whole. It never guesses. What is no JSON ends the reading.
///
/// Reading is linear in the text; [`value`](Self::value) copies what is there.
///
/// ```
/// use agcore_cycle::typed::PartialJson;
/// use serde_json::json;
///
/// let mut partial = PartialJson::new();
/// partial.push(r#"{"city": "Os"#);
/// assert_eq!(partial.value(), Some(json!({"city": "Os"})));
/// partial.push(r#"lo", "sights": [{"age": 12"#);
/// assert_eq!(partial.value(), Some(json!({"city": "Oslo", "sights": [{}]})));
/// partial.push("5}]}");
/// assert!(partial.is_complete());
/// assert_eq!(partial.value(), Some(json!({"city": "Oslo", "sights": [{"age": 125}]})));
/// ```
#[derive(Debug, Clone, Default)]
pub struct PartialJson {
    /// Arrays and objects that have begun, the innermost last.
    open: Vec<Open>,
    place: Place,
    /// The string, number or word under way.
    text: String,
    string: StringReader,
    root: Option<Value>,
    revision: u64,
}

#[derive(Debug, Clone)]
enum Open {
    Array(Vec<Value>),
    Object { members: Map<String, Value>, key: String },
}

/// What comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Value,
    /// A value, or the end of an array.
    FirstItem,
    /// A key, or the end of an object.
    FirstKey,
    Key,
    Colon,
    /// A comma, or the end.
    After,
    InKey,
    InString,
    /// A number or a word.
    InScalar,
    Whole,
    Broken,
}

impl PartialJson {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more of the text. Gives how many bytes of it were read: all, but for what follows the whole value, or what no
    /// JSON could go on with.
    pub fn push(&mut self, text: &str) -> usize {
        let mut at = 0;
        while at < text.len() && !matches!(self.place, Place::Whole | Place::Broken) {
            at += match self.place {
                Place::InKey | Place::InString => self.string(&text[at..]),
                Place::InScalar => self.scalar(&text[at..]),
                _ => self.mark(text.as_bytes()[at]),
            };
        }
        at
    }

    /// No more comes: a number that stands alone is whole now.
    pub fn end(&mut self) {
        if self.place == Place::InScalar && self.open.is_empty() {
            self.end_scalar();
        }
    }

    /// What is there so far; none before anything is.
    pub fn value(&self) -> Option<Value> {
        if let Some(root) = &self.root {
            return Some(root.clone());
        }
        let text = || Value::String(self.text.clone());
        let mut inner = (self.place == Place::InString).then(text);
        for open in self.open.iter().rev() {
            inner = Some(open.with(inner));
        }
        inner
    }

    /// Whether the value is whole.
    pub fn is_complete(&self) -> bool {
        self.place == Place::Whole
    }

    /// Whether something came that no JSON could go on with. What was there before stays.
    pub fn is_broken(&self) -> bool {
        self.place == Place::Broken
    }

    /// Rises whenever [`value`](Self::value) changes.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The value, when it is whole.
    pub fn into_whole(self) -> Option<Value> {
        self.root
    }

    /// Whether the root is an object whose first key was read.
    fn has_key(&self) -> bool {
        match self.open.first() {
            Some(Open::Object { members, key }) => {
                !members.is_empty() || !key.is_empty() || self.open.len() > 1 || self.place == Place::Value
            }
            _ => false,
        }
    }

    /// A byte between strings, numbers and words.
    fn mark(&mut self, byte: u8) -> usize {
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return 1;
        }
        let next = match (self.place, byte) {
            (Place::FirstItem, b']') | (Place::FirstKey, b'}') => return self.close(byte),
            (Place::After, b']' | b'}') => return self.close(byte),
            (Place::After, b',') => match self.open.last() {
                Some(Open::Object { .. }) => Place::Key,
                _ => Place::Value,
            },
            (Place::FirstKey | Place::Key, b'"') => self.begin_string(Place::InKey),
            (Place::Colon, b':') => Place::Value,
            (Place::Value | Place::FirstItem, b'"') => {
                self.revision += 1;
                self.begin_string(Place::InString)
            }
            (Place::Value | Place::FirstItem, b'{') => self.begin(
                Open::Object {
                    members: Map::new(),
                    key: String::new(),
                },
                Place::FirstKey,
            ),
            (Place::Value | Place::FirstItem, b'[') => self.begin(Open::Array(Vec::new()), Place::FirstItem),
            (Place::Value | Place::FirstItem, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                self.text.clear();
                // The byte itself is read as a part of it.
                self.place = Place::InScalar;
                return 0;
            }
            _ => Place::Broken,
        };
        self.place = next;
        usize::from(next != Place::Broken)
    }

    fn begin(&mut self, open: Open, next: Place) -> Place {
        if self.open.len() == DEPTH {
            return Place::Broken;
        }
        self.open.push(open);
        self.revision += 1;
        next
    }

    fn begin_string(&mut self, next: Place) -> Place {
        self.text.clear();
        self.string = StringReader::default();
        next
    }

    fn close(&mut self, byte: u8) -> usize {
        match (self.open.pop(), byte) {
            (Some(Open::Array(items)), b']') => self.put(Value::Array(items)),
            (Some(Open::Object { members, .. }), b'}') => self.put(Value::Object(members)),
            (open, _) => {
                self.open.extend(open);
                self.place = Place::Broken;
                return 0;
            }
        }
        1
    }

    /// A value is whole.
    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            None => {
                self.root = Some(value);
                self.place = Place::Whole;
                return;
            }
            Some(Open::Array(items)) => items.push(value),
            Some(Open::Object { members, key }) => {
                members.insert(std::mem::take(key), value);
            }
        }
        self.place = Place::After;
    }

    fn string(&mut self, text: &str) -> usize {
        let before = self.text.len();
        let (read, how) = self.string.read(text, &mut self.text);
        let is_key = self.place == Place::InKey;
        if !is_key && self.text.len() > before {
            self.revision += 1;
        }
        match how {
            Read::More => {}
            Read::Broken => self.place = Place::Broken,
            Read::Whole => {
                let text = std::mem::take(&mut self.text);
                match self.open.last_mut() {
                    Some(Open::Object { key, .. }) if is_key => {
                        *key = text;
                        self.place = Place::Colon;
                    }
                    _ => self.put(Value::String(text)),
                }
            }
        }
        read
    }

    fn scalar(&mut self, text: &str) -> usize {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = text.bytes().take_while(|byte| is_part(byte)).count();
        self.text.push_str(&text[..length]);
        if length < text.len() {
            self.end_scalar();
        }
        length
    }

    fn end_scalar(&mut self) {
        match serde_json::from_str(&self.text) {
            Ok(value) => {
                self.revision += 1;
                self.put(value);
            }
            Err(_) => self.place = Place::Broken,
        }
    }
}

impl Open {
    /// What is there of it, with what is there of its innermost part.
    fn with(&self, inner: Option<Value>) -> Value {
        match self {
            Self::Array(items) => Value::Array(items.iter().cloned().chain(inner).collect()),
            Self::Object { members, key } => {
                let mut members = members.clone();
                if let Some(inner) = inner {
                    members.insert(key.clone(), inner);
                }
                Value::Object(members)
            }
        }
    }
}
