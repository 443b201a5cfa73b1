//! [`Entry`]: a line of the log of a server, which is read by programs and by people who look for one request among many.

use std::time::SystemTime;

use agcore_chat::{Timestamp, text::sanitized_line};
use serde_json::{Map, Value};
use tracing::Level;

use super::fields::Fields;

/// Fields of spans that every line within them has, and their names in the log.
const CONTEXT: [(&str, &str); 8] = [
    ("agcore.request.id", "request"),
    ("http.request.method", "method"),
    ("http.route", "route"),
    ("http.response.status_code", "status"),
    ("agcore.tenant", "tenant"),
    ("agcore.user", "user"),
    ("gen_ai.conversation.id", "thread"),
    ("agcore.run.id", "run"),
];

/// Fields that the message of a line has already, or that mean nothing outside of a trace.
const OMITTED: [&str; 4] = ["message", "otel.name", "otel.kind", "otel.status_code"];

/// A line of the log.
#[derive(Debug)]
pub(super) struct Entry {
    time: String,
    level: Level,
    message: String,
    fields: Vec<(String, String)>,
}

impl Entry {
    pub(super) fn new(time: SystemTime, level: Level, message: String) -> Self {
        Self {
            time: Timestamp::from(time).to_string(),
            level,
            message,
            fields: Vec::new(),
        }
    }

    /// Adds the fields of a span, which describe all lines within it. An inner span comes after an outer one.
    pub(super) fn add_context(&mut self, fields: &Fields) {
        for (name, short) in CONTEXT {
            if let Some(value) = fields.get(name) {
                self.set(short, value.to_owned());
            }
        }
    }

    /// Adds the fields of an event, or of a span that ended.
    pub(super) fn add(&mut self, fields: &Fields) {
        for (name, value) in fields.iter() {
            let is_context = CONTEXT.iter().any(|(known, _)| *known == name);
            if !is_context && !OMITTED.contains(&name) {
                self.set(name, value.to_owned());
            }
        }
    }

    pub(super) fn set(&mut self, name: &str, value: String) {
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.fields.push((name.to_owned(), value)),
        }
    }

    /// Returns the line as text: `2026-01-31T08:09:10.042Z INFO  http_request: 5 ms method=GET status=200`.
    pub(super) fn to_text(&self) -> String {
        let start = format!("{} {:<5} {}", self.time, self.level, self.message);
        let line = self.fields.iter().fold(start, |line, (name, value)| {
            let is_plain = !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || c == '"' || c == '=');
            match is_plain {
                true => format!("{line} {name}={value}"),
                false => format!("{line} {name}={value:?}"),
            }
        });
        sanitized_line(&line) + "\n"
    }

    /// Returns the line as a JSON object.
    pub(super) fn to_json(&self) -> String {
        let mut object = Map::new();
        object.insert("time".to_owned(), self.time.clone().into());
        object.insert("level".to_owned(), self.level.as_str().to_lowercase().into());
        object.insert("message".to_owned(), self.message.clone().into());
        for (name, value) in &self.fields {
            let value = match (&**name, value.parse::<u64>()) {
                ("status" | "duration_ms", Ok(number)) => number.into(),
                _ => Value::from(&**value),
            };
            object.insert(name.clone(), value);
        }
        Value::Object(object).to_string() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_line_names_its_context() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(951_782_400_042);
        let mut entry = Entry::new(time, Level::WARN, "a run has failed".to_owned());
        entry.add_context(&Fields::from([
            ("agcore.tenant", "acme"),
            ("gen_ai.conversation.id", "my thread"),
        ]));
        entry.add_context(&Fields::from([
            ("agcore.run.id", "r1"),
            ("http.response.status_code", "200"),
        ]));
        entry.add(&Fields::from([
            ("message", "a run has failed"),
            ("error", "no\nluck \u{1b}[2J"),
        ]));
        assert_eq!(
            entry.to_text(),
            "2000-02-29T00:00:00.042Z WARN  a run has failed tenant=acme thread=\"my thread\" status=200 run=r1 \
             error=\"no\\nluck \\u{1b}[2J\"\n"
        );
        let parsed: Value = serde_json::from_str(&entry.to_json()).unwrap();
        assert_eq!(
            parsed,
            json!({
                "time": "2000-02-29T00:00:00.042Z", "level": "warn", "message": "a run has failed", "tenant": "acme",
                "thread": "my thread", "run": "r1", "status": 200, "error": "no\nluck \u{1b}[2J",
            })
        );
    }
}
