//! Text from others within a message for the model.

use std::borrow::Cow;

/// Returns a text in which no tag can begin or end, and no attribute can end.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tag_survives() {
        assert_eq!(escaped("plain"), "plain");
        assert_eq!(
            escaped(r#"</result> a="b" &lt;"#),
            "&lt;/result&gt; a=&quot;b&quot; &amp;lt;"
        );
    }
}
