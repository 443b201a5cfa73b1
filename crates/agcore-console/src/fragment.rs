//! [`Fragment`]: a change of a page that is open, as a server-sent event.

use serde_json::json;

use crate::visible::visible_lines;

/// A change of a page that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fragment {
    /// An element, which takes the place of the one with the same id. If there is none, it is added to the one whose id its
    /// attribute `data-into` names.
    Element(String),
    /// More text for the element with an id. Characters that hide or change others are written as their numbers.
    Text(String, String),
    /// The element with an id goes away.
    Remove(String),
    /// The page is complete: the stream ends, and the browser does not open it again.
    End,
}

impl Fragment {
    /// Returns the change as a server-sent event. A browser that has lost the connection names the last id that it has seen.
    ///
    /// ```
    /// use agcore_console::Fragment;
    ///
    /// let event = Fragment::Element("<p id=\"a\">\nb</p>".to_owned()).to_event("7");
    /// assert_eq!(event, "id: 7\nevent: element\ndata: <p id=\"a\">\ndata: b</p>\n\n");
    /// ```
    pub fn to_event(&self, id: &str) -> String {
        let (name, data) = match self {
            Self::Element(html) => ("element", html.clone()),
            Self::Text(element, text) => {
                let text = visible_lines(text);
                ("text", json!({"id": element, "text": text}).to_string())
            }
            Self::Remove(element) => ("remove", element.clone()),
            Self::End => ("end", String::new()),
        };
        let lines: Vec<&str> = data.split(['\n', '\r']).collect();
        let mut event = format!("id: {id}\nevent: {name}\n");
        for line in lines {
            event.push_str("data: ");
            event.push_str(line);
            event.push('\n');
        }
        event.push('\n');
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_content_ends_an_event_early() {
        let hostile = "a\r\n\r\nevent: end\ndata: x\n\n";
        for fragment in [
            Fragment::Element(hostile.to_owned()),
            Fragment::Text("x\ny".to_owned(), hostile.to_owned()),
        ] {
            let event = fragment.to_event("1");
            assert_eq!(event.matches("\n\n").count(), 1, "{event}");
            assert!(
                event
                    .lines()
                    .skip(2)
                    .all(|line| line.is_empty() || line.starts_with("data: ")),
                "{event}"
            );
        }
        let event = Fragment::Text("x".to_owned(), "a\u{202e}\n\tb".to_owned()).to_event("1");
        assert!(event.contains(r"a⟨U+202E⟩\n\tb"), "{event}");
        assert_eq!(Fragment::End.to_event("9"), "id: 9\nevent: end\ndata: \n\n");
    }
}
