//! The YAML or TOML at the beginning of a Markdown file.

use agcore_document::{FrontMatter, Node, Value};

/// The front matter of a file and its members.
pub(crate) struct Front<'t> {
    pub(crate) matter: FrontMatter<'t>,
    pub(crate) root: Node,
}

impl<'t> Front<'t> {
    /// Splits a file into its front matter and the rest, and reads the members.
    ///
    /// # Errors
    /// What is wrong with the front matter.
    pub(crate) fn of(text: &'t str) -> Result<Self, String> {
        let missing =
            "it must begin with front matter: a line `---`, members such as `name: NAME`, and another line `---`";
        let matter = FrontMatter::split(text).map_err(|error| error.kind.to_string())?;
        let matter = matter.ok_or(missing)?;
        let root = matter.parse().map_err(|error| matter.describe(&error))?;
        Ok(Self { matter, root })
    }

    /// Returns a member that is one line or block of text; an empty text if it is missing or has another type.
    pub(crate) fn text(&self, name: &str) -> String {
        match self.root.member(name).map(|member| &member.node.value) {
            Some(Value::Text(text) | Value::Number(text)) => text.clone(),
            Some(Value::Bool(value)) => value.to_string(),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn members(text: &str) -> Value {
        Front::of(text).map(|front| front.root.to_json()).unwrap()
    }

    #[test]
    fn the_front_matter_ends_with_a_line() {
        let text = "---\nname: tea\nlicense: [a, {b: c}]\ndescription: 'Makes \"tea\": hot.'\n---\nBody\n---\n";
        let expected = json!({"name": "tea", "license": ["a", {"b": "c"}], "description": "Makes \"tea\": hot."});
        assert_eq!(members(text), expected);
        assert_eq!(Front::of(text).map(|front| front.matter.body), Ok("Body\n---\n"));
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(members(&windows), expected);
        assert_eq!(members("---\n---\n"), json!({}));
        assert_eq!(
            members("+++\nname = 'tea'\ntools = ['a']\n+++\nBody"),
            json!({"name": "tea", "tools": ["a"]})
        );
    }

    #[test]
    fn a_text_is_as_it_was_written() {
        let front =
            Front::of("---\na: >\n  one\n  two\nb: 1.10\nc: 007\nd: true\ne: &k x\nf: *k\ng: [a]\n---\n").unwrap();
        let texts = ["a", "b", "c", "d", "f", "g", "h"].map(|name| front.text(name));
        assert_eq!(texts, ["one two\n", "1.10", "007", "true", "x", "", ""]);
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, expected: &str| {
            let error = Front::of(text).map(|front| front.root).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("---\nname: tea\n", "does not end");
        for broken in [
            "",
            "name: tea",
            "---x\n---\n",
            "---\n- a\n---\n",
            "---\n\nname: tea\n---\n",
        ] {
            check(broken, "must begin with front matter");
        }
        check("---\na: [\n---\n", "the front matter is not YAML: line ");
        check(
            "---\na: 1\na: 2\n---\n",
            "the front matter is invalid: line 3: the key \"a\" occurs twice",
        );
        check("---\n7: a\n---\n", "line 2: a key must be a text; quote it");
        check("+++\na = \n+++\n", "the front matter is not TOML: line 2: ");
    }
}
