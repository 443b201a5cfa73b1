//! A reader of the HTML that the pages consist of.

/// A tag, with the names and values of its attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

impl Tag {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the tag without the values of its attributes.
    pub(crate) fn shape(&self) -> String {
        let names: Vec<&str> = self.attributes.iter().map(|(name, _)| name.as_str()).collect();
        format!("<{} {}>", self.name, names.join(" "))
    }
}

/// Returns all tags of a document, as a browser would find them.
pub(crate) fn tags(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = tag(after);
        tags.push(tag);
        rest = after;
    }
    tags
}

fn tag(text: &str) -> (Tag, &str) {
    let end = text
        .find(|char: char| char.is_whitespace() || char == '>')
        .unwrap_or(text.len());
    let name = text[..end].to_ascii_lowercase();
    let (mut attributes, mut rest) = (Vec::new(), &text[end..]);
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>') {
            return (Tag { name, attributes }, after);
        }
        let end = rest.find(|char: char| char.is_whitespace() || char == '>' || char == '=');
        let Some(end) = end else {
            return (Tag { name, attributes }, "");
        };
        let attribute = rest[..end].to_owned();
        rest = &rest[end..];
        let Some(value) = rest.strip_prefix('=') else {
            attributes.push((attribute, String::new()));
            continue;
        };
        let quoted = value.strip_prefix('"').expect("every value has quotes");
        let (value, after) = quoted.split_once('"').expect("every quote is closed");
        attributes.push((attribute, value.to_owned()));
        rest = after;
    }
}

/// Returns the document without the numbers that stand for hidden characters.
pub(crate) fn without_numbers(html: &str) -> String {
    const OPEN: &str = "<span class=\"hidden-char\">";
    let mut parts = html.split(OPEN);
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        plain.push_str(part.split_once("</span>").unwrap().1);
    }
    plain
}

#[test]
fn the_reader_finds_what_a_browser_finds() {
    let shapes: Vec<String> = tags("a<b c=\"<d>\" e>x</b><script>").iter().map(Tag::shape).collect();
    assert_eq!(shapes, ["<b c e>", "</b >", "<script >"]);
}
