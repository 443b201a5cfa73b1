//! [`IdScan`]: finds the id of an answer that cannot be parsed.

use rmcp::model::RequestId;
use serde_json::Value;

/// The longest id that is recognized, in bytes.
const MAX_ID_BYTES: usize = 64;

/// Finds the member `id` of a JSON object that is read in pieces, and whether the object is an answer.
///
/// Members of nested objects are not taken for it.
#[derive(Debug, Default)]
pub(crate) struct IdScan {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The last string or scalar at the top level of the object, if it is short.
    token: Vec<u8>,
    is_value: bool,
    is_id: bool,
    has_body: bool,
    has_method: bool,
    id: Vec<u8>,
}

impl IdScan {
    /// Scans a whole text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut scan = Self::default();
        scan.feed(text);
        scan
    }

    /// Scans the next piece of a text.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.is_id = self.token == br#""id""#;
                self.has_body |= matches!(&*self.token, br#""result""# | br#""error""#);
                self.has_method |= self.token == br#""method""#;
                self.is_value = true;
                self.token.clear();
            }
            b',' => self.end_value(),
            b' ' | b'\t' | b'\r' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.depth == 1 {
            if self.is_value && self.is_id {
                self.id = std::mem::take(&mut self.token);
            }
            self.token.clear();
            (self.is_value, self.is_id) = (false, false);
        }
    }

    /// Returns whether the text has a member `result` or `error`, and no `method`.
    pub(crate) fn is_answer(&self) -> bool {
        self.has_body && !self.has_method
    }

    /// Returns the id of an answer, if it is a number or a string.
    pub(crate) fn answered(&self) -> Option<RequestId> {
        if !self.is_answer() {
            return None;
        }
        match serde_json::from_slice(&self.id).ok()? {
            Value::Number(number) => number.as_i64().map(RequestId::Number),
            Value::String(text) => Some(RequestId::String(text.into())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<RequestId>) {
        assert_eq!(IdScan::of(text.as_bytes()).answered(), expected, "{text}");
        let mut pieces = IdScan::default();
        for byte in text.as_bytes() {
            pieces.feed(&[*byte]);
        }
        assert_eq!(pieces.answered(), expected, "{text}");
    }

    #[test]
    fn finds_the_id_of_an_answer() {
        let number = |id| Some(RequestId::Number(id));
        check(r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"text":"x"}}"#, number(7));
        check(r#"{"result":["id",1,"x"],"jsonrpc":"2.0","id":-3}"#, number(-3));
        check(
            r#"{"result":{"id":8,"text":"}"}, "id" : "a\"b"}"#,
            Some(RequestId::String("a\"b".into())),
        );
        check(r#"{"id":3,"result":{"content":[{"text":"bro"#, number(3));
        check(r#"{"id":3,"error":{"#, number(3));
    }

    #[test]
    fn other_texts_have_none() {
        check(r#"{"a":{"id":1,"result":2},"b":"x"}"#, None);
        check(r#"["id",1,"result"]"#, None);
        check(r#"{"level":"info","id":1,"msg":"result: 3"}"#, None);
        check(r#"{"id":1,"method":"ping","result":{}}"#, None);
        check(r#"{"id":null,"result":{}}"#, None);
        check("starting", None);
    }
}
