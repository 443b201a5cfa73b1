//! [`PartialJson`]: parses the beginning of a JSON text. [`ObjectFinder`]: finds JSON objects in prose.

mod finder;
mod string;

pub use finder::ObjectFinder;

use serde_json::{Map, Value};

use self::string::{Progress, StringReader};

/// The nesting depth that `serde_json` accepts.
const MAX_DEPTH: usize = 127;

/// An incremental JSON parser whose value is available at any time.
///
/// The value is a beginning of the final value: it contains the arrays and objects that were opened, the part of a string that
/// was received, and numbers and literals only when they are complete. It never guesses. Invalid JSON ends the parsing.
///
/// Parsing is linear in the text; [`value`](Self::value) copies the value.
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
    /// The open arrays and objects, the innermost last.
    open: Vec<Container>,
    state: State,
    /// The current string, number or literal.
    text: String,
    string: StringReader,
    root: Option<Value>,
    revision: u64,
}

#[derive(Debug, Clone)]
enum Container {
    Array(Vec<Value>),
    Object { members: Map<String, Value>, key: String },
}

/// The state of the parser.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Before a value.
    #[default]
    Value,
    /// Before a value or the end of an array.
    FirstItem,
    /// Before a key or the end of an object.
    FirstKey,
    /// Before a key.
    Key,
    /// Before a colon.
    Colon,
    /// Before a comma or the end of an array or object.
    AfterValue,
    InKey,
    InString,
    /// In a number or a literal.
    InScalar,
    Complete,
    Invalid,
}

impl PartialJson {
    /// Creates a parser without any text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text. Returns the number of bytes that were parsed, which is less than the length of `text` if the value is
    /// complete or the text is not valid JSON.
    pub fn push(&mut self, text: &str) -> usize {
        let mut parsed = 0;
        while parsed < text.len() && !matches!(self.state, State::Complete | State::Invalid) {
            parsed += match self.state {
                State::InKey | State::InString => self.string(&text[parsed..]),
                State::InScalar => self.scalar(&text[parsed..]),
                _ => self.structural(text.as_bytes()[parsed]),
            };
        }
        parsed
    }

    /// Marks the end of the text, which completes a number at the root.
    pub fn end(&mut self) {
        if self.state == State::InScalar && self.open.is_empty() {
            self.end_scalar();
        }
    }

    /// Returns the value so far, or `None` before it has started.
    pub fn value(&self) -> Option<Value> {
        if let Some(root) = &self.root {
            return Some(root.clone());
        }
        let text = || Value::String(self.text.clone());
        let mut inner = (self.state == State::InString).then(text);
        for open in self.open.iter().rev() {
            inner = Some(open.with(inner));
        }
        inner
    }

    /// Returns whether the value is complete.
    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Returns whether the text is not valid JSON. The value up to that point stays available.
    pub fn is_invalid(&self) -> bool {
        self.state == State::Invalid
    }

    /// Returns a number that increases whenever [`value`](Self::value) changes.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the value if it is complete.
    pub fn into_complete(self) -> Option<Value> {
        self.root
    }

    /// Returns whether the root is an object whose first key is complete.
    fn has_key(&self) -> bool {
        match self.open.first() {
            Some(Container::Object { members, key }) => {
                !members.is_empty() || !key.is_empty() || self.open.len() > 1 || self.state == State::Value
            }
            _ => false,
        }
    }

    /// Parses a byte outside of strings, numbers and literals. Returns how many bytes were consumed.
    fn structural(&mut self, byte: u8) -> usize {
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return 1;
        }
        let next = match (self.state, byte) {
            (State::FirstItem, b']') | (State::FirstKey, b'}') => return self.close(byte),
            (State::AfterValue, b']' | b'}') => return self.close(byte),
            (State::AfterValue, b',') => match self.open.last() {
                Some(Container::Object { .. }) => State::Key,
                _ => State::Value,
            },
            (State::FirstKey | State::Key, b'"') => self.start_string(State::InKey),
            (State::Colon, b':') => State::Value,
            (State::Value | State::FirstItem, b'"') => {
                self.revision += 1;
                self.start_string(State::InString)
            }
            (State::Value | State::FirstItem, b'{') => self.start(
                Container::Object {
                    members: Map::new(),
                    key: String::new(),
                },
                State::FirstKey,
            ),
            (State::Value | State::FirstItem, b'[') => self.start(Container::Array(Vec::new()), State::FirstItem),
            (State::Value | State::FirstItem, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                self.text.clear();
                // The byte itself is parsed as a part of the number or literal.
                self.state = State::InScalar;
                return 0;
            }
            _ => State::Invalid,
        };
        self.state = next;
        usize::from(next != State::Invalid)
    }

    fn start(&mut self, open: Container, next: State) -> State {
        if self.open.len() == MAX_DEPTH {
            return State::Invalid;
        }
        self.open.push(open);
        self.revision += 1;
        next
    }

    fn start_string(&mut self, next: State) -> State {
        self.text.clear();
        self.string = StringReader::default();
        next
    }

    fn close(&mut self, byte: u8) -> usize {
        match (self.open.pop(), byte) {
            (Some(Container::Array(items)), b']') => self.put(Value::Array(items)),
            (Some(Container::Object { members, .. }), b'}') => self.put(Value::Object(members)),
            (open, _) => {
                self.open.extend(open);
                self.state = State::Invalid;
                return 0;
            }
        }
        1
    }

    /// Adds a complete value to the innermost container.
    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            None => {
                self.root = Some(value);
                self.state = State::Complete;
                return;
            }
            Some(Container::Array(items)) => items.push(value),
            Some(Container::Object { members, key }) => {
                members.insert(std::mem::take(key), value);
            }
        }
        self.state = State::AfterValue;
    }

    fn string(&mut self, text: &str) -> usize {
        let before = self.text.len();
        let (parsed, progress) = self.string.read(text, &mut self.text);
        let is_key = self.state == State::InKey;
        if !is_key && self.text.len() > before {
            self.revision += 1;
        }
        match progress {
            Progress::Incomplete => {}
            Progress::Invalid => self.state = State::Invalid,
            Progress::Complete => {
                let text = std::mem::take(&mut self.text);
                match self.open.last_mut() {
                    Some(Container::Object { key, .. }) if is_key => {
                        *key = text;
                        self.state = State::Colon;
                    }
                    _ => self.put(Value::String(text)),
                }
            }
        }
        parsed
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
            Err(_) => self.state = State::Invalid,
        }
    }
}

impl Container {
    /// Returns the value of the container, including the value of its innermost part.
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
