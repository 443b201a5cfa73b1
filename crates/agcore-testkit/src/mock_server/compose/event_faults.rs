//! Faults that change the events of a reply.

use crate::mock_server::{
    reply::{ApiError, Fault},
    wire::{Event, Part},
};

/// Applies `fault` to the events of a stream, or to the only event of a single body. Other kinds of faults have no
/// effect here.
pub(super) fn apply(events: &mut Vec<Event>, fault: &Fault, streamed: bool, error_event: impl Fn(&ApiError) -> Event) {
    match fault {
        Fault::Malformed { at } => change_data(events, *at, first_half),
        Fault::Huge { at, bytes } => change_data(events, *at, |data| pad(data, *bytes)),
        Fault::MissingDone if streamed => events.retain(|event| event.part != Part::Done),
        Fault::MissingFinish if streamed => events.retain(|event| event.part != Part::Finish),
        Fault::ExtraEvent { at, name, data } if streamed => {
            let mut event = Event::new(Part::Content, data.as_str());
            event.name.clone_from(name);
            events.insert((*at).min(events.len()), event);
        }
        Fault::ErrorEvent { at, error } if streamed => {
            events.truncate(*at);
            events.push(error_event(error));
        }
        _ => {}
    }
}

fn change_data(events: &mut [Event], at: usize, change: impl FnOnce(&str) -> String) {
    if let Some(event) = events.get_mut(at) {
        event.data = change(&event.data);
    }
}

/// Returns the first half, truncated at a character boundary.
fn first_half(data: &str) -> String {
    let half = data
        .char_indices()
        .map(|(offset, _)| offset)
        .take_while(|offset| *offset <= data.len() / 2)
        .last();
    data[..half.unwrap_or(0)].to_owned()
}

/// Adds a member to a JSON object so that it is `bytes` long. Returns the object unchanged if it is too long for that.
fn pad(data: &str, bytes: usize) -> String {
    const OPEN: &str = "{\"padding\":\"";
    const CLOSE: &str = "\",";
    let Some(rest) = data.strip_prefix('{') else {
        return data.to_owned();
    };
    let Some(fill) = bytes.checked_sub(OPEN.len() + CLOSE.len() + rest.len()) else {
        return data.to_owned();
    };
    [OPEN, &"x".repeat(fill), CLOSE, rest].concat()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(fault: &Fault, streamed: bool, expected: &[&str]) {
        let mut events = vec![
            Event::new(Part::Content, r#"{"a":1}"#),
            Event::new(Part::Finish, r#"{"b":2}"#),
            Event::new(Part::Done, "[DONE]"),
        ];
        apply(&mut events, fault, streamed, |error| {
            Event::new(Part::Content, error.status().to_string())
        });
        let data: Vec<&str> = events.iter().map(|event| event.data.as_str()).collect();
        assert_eq!(data, expected, "{fault:?}");
    }

    #[test]
    fn faults_change_events() {
        let (a, b, done) = (r#"{"a":1}"#, r#"{"b":2}"#, "[DONE]");
        check(&Fault::MissingDone, true, &[a, b]);
        check(&Fault::MissingDone, false, &[a, b, done]);
        check(&Fault::MissingFinish, true, &[a, done]);
        check(&Fault::Malformed { at: 1 }, true, &[a, r#"{"b"#, done]);
        check(&Fault::Malformed { at: 9 }, true, &[a, b, done]);
        check(&Fault::error_event(1, ApiError::new(503)), true, &[a, "503"]);
        check(&Fault::error_event(7, ApiError::new(503)), true, &[a, b, done, "503"]);
        check(&Fault::extra_event(1, "?"), true, &[a, "?", b, done]);
        check(&Fault::extra_event(7, "?"), true, &[a, b, done, "?"]);
        check(
            &Fault::Huge { at: 0, bytes: 24 },
            true,
            &[r#"{"padding":"xxxx","a":1}"#, b, done],
        );
        check(&Fault::Huge { at: 2, bytes: 24 }, true, &[a, b, done]);
    }

    #[test]
    fn padding_reaches_the_size_and_preserves_the_json() {
        let padded = pad(r#"{"a":"ä"}"#, 65_536);
        assert_eq!(padded.len(), 65_536);
        let value: Value = serde_json::from_str(&padded).unwrap_or_default();
        assert_eq!(value["a"], json!("ä"));
    }
}
