//! [`IdScan`]: finds the id of an answer that cannot be parsed.

use rmcp::model::RequestId;
use serde_json::Value;

/// The longest id that is recognized, in bytes.
const MAX_ID_BYTES: usize = 64;

/// Finds the member `id` of a JSON object that is read in pieces, and whether the object is an answer.
///
/// Members of nested objects are not taken for it. The text may be a value of JavaScript or Python, with other quotes or none
/// around its names.
#[derive(Debug, Default)]
pub(crate) struct IdScan {
    depth: usize,
    /// The quote that ends the string.
    quote: Option<u8>,
    is_escaped: bool,
    /// The last string or scalar at the top level of the object, if it is short.
    token: Vec<u8>,
    is_value: bool,
    is_id: bool,
    has_body: bool,
    has_method: bool,
    has_version: bool,
    /// Whether a name is not in double quotes.
    is_loose: bool,
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
        if let Some(quote) = self.quote {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                byte if byte == quote => self.quote = None,
                _ => {}
            }
            return;
        }
        match byte {
            // Around the object, it is an apostrophe.
            b'"' | b'\'' if byte == b'"' || self.depth > 0 => {
                self.quote = Some(byte);
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && !self.is_value => self.begin_value(),
            b',' => self.end_value(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    /// Reads the name before a value.
    fn begin_value(&mut self) {
        let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
        let token = std::mem::take(&mut self.token);
        let start = usize::from(token.first().is_some_and(is_quote));
        let end = token.len() - usize::from(token.len() > 1 && token.last().is_some_and(is_quote));
        let name = &token[start..end.max(start)];
        self.is_id = name == b"id";
        self.has_body |= matches!(name, b"result" | b"error");
        self.has_method |= name == b"method";
        self.has_version |= name == b"jsonrpc";
        self.is_loose |= token.first() != Some(&b'"');
        self.is_value = true;
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

    /// Returns whether the text ends within an object or a list.
    pub(crate) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Returns whether the text has a member `result` or `error`, and no `method`. Logs look like that in other notations.
    pub(crate) fn is_answer(&self) -> bool {
        self.has_body && !self.has_method && (self.has_version || !self.is_loose)
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
    fn other_notations_are_read() {
        let number = |id| Some(RequestId::Number(id));
        check("{'jsonrpc': '2.0', 'id': 3, 'result': {'x': \"it's\"}}", number(3));
        check("{\n  jsonrpc: '2.0',\n  id: 3,\n  result: { id: 4 }\n}", number(3));
        check("it's {\"id\":3,\"error\":oops}", number(3));
        check("{id: 3, error: 'x'}", None);
        check("{'level': 'error', 'id': 3, 'error': 'x'}", None);
        check("{:::}", None);
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
