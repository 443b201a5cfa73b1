//! HTML: the text of a page, with the targets of its links.

use super::sheet::Sheet;

/// Elements whose content is not text.
const WITHOUT_TEXT: [&str; 6] = ["script", "style", "svg", "noscript", "template", "iframe"];

/// Elements that begin a line of text.
const BLOCKS: [&str; 20] = [
    "address", "article", "aside", "br", "dd", "div", "dt", "footer", "h1", "h2", "h3", "h4", "header", "li", "main",
    "p", "pre", "section", "table", "tr",
];

/// Replaces each line by its text. Returns whether the text is a page.
pub(super) fn shorten(sheet: &mut Sheet) -> bool {
    if !is_page(sheet) {
        return false;
    }
    let mut reader = Reader::default();
    for at in 0..sheet.len() {
        let text = reader.text_of(sheet.line(at));
        sheet.show(at, text);
    }
    true
}

fn is_page(sheet: &Sheet) -> bool {
    let start: String = sheet
        .lines()
        .take(20)
        .collect::<Vec<_>>()
        .join("\n")
        .to_ascii_lowercase();
    let has_root = start.contains("<html") || start.contains("<!doctype html") || start.contains("<body");
    let has_blocks = || {
        ["<div", "<p>", "<table", "<ul", "<section", "<article"]
            .iter()
            .filter(|tag| start.contains(**tag))
            .count()
            >= 2
    };
    start.trim_start().starts_with('<') && !start.contains("<?xml") && (has_root || has_blocks())
}

/// The place of a reader between two lines of a page.
#[derive(Default)]
struct Reader {
    /// The tag in which the line ends, without its `<`.
    tag: Option<String>,
    /// The element whose content is skipped.
    skipped: Option<String>,
    /// The target of the link that is open.
    link: Option<String>,
    is_comment: bool,
}

impl Reader {
    /// Returns the text of a line.
    fn text_of(&mut self, line: &str) -> String {
        let (mut text, mut rest) = (String::new(), line);
        while !rest.is_empty() {
            if let Some(skipped) = self.skipped.take_if(|_| self.tag.is_none() && !self.is_comment) {
                let end = rest.to_ascii_lowercase().find(&format!("</{skipped}"));
                let Some(behind) = end.and_then(|end| rest.get(end + 1..)) else {
                    self.skipped = Some(skipped);
                    break;
                };
                (self.tag, rest) = (Some(String::new()), behind);
            } else if self.is_comment {
                let Some((_, behind)) = rest.split_once("-->") else {
                    break;
                };
                (self.is_comment, rest) = (false, behind);
            } else if let Some(mut tag) = self.tag.take() {
                let Some((end, behind)) = rest.split_once('>') else {
                    tag.push_str(rest);
                    tag.push(' ');
                    self.tag = Some(tag);
                    break;
                };
                tag.push_str(end);
                self.enter(&tag, &mut text);
                rest = behind;
            } else {
                let (before, behind) = rest
                    .split_once('<')
                    .map_or((rest, None), |(before, behind)| (before, Some(behind)));
                text.push_str(&unescaped(before));
                let Some(behind) = behind else { break };
                rest = match behind.strip_prefix("!--") {
                    Some(comment) => {
                        self.is_comment = true;
                        comment
                    }
                    None => {
                        self.tag = Some(String::new());
                        behind
                    }
                };
            }
        }
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Handles a tag.
    fn enter(&mut self, tag: &str, text: &mut String) {
        let is_end = tag.starts_with('/');
        let name = tag
            .trim_start_matches('/')
            .split(|c: char| c.is_whitespace() || c == '/')
            .next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "a" if is_end => {
                if let Some(target) = self.link.take() {
                    text.push_str(&format!(" ({target})"));
                }
            }
            "a" => self.link = attribute(tag, "href").filter(|target| !target.starts_with('#')),
            "img" => text.extend(attribute(tag, "alt").map(|alt| format!(" [{alt}] "))),
            "td" | "th" if is_end => text.push_str(" | "),
            "li" if !is_end => text.push_str("\n- "),
            "h1" | "h2" | "h3" | "h4" if !is_end => text.push_str("\n# "),
            name if WITHOUT_TEXT.contains(&name) && !is_end && !tag.ends_with('/') => {
                self.skipped = Some(name.to_owned());
            }
            name if BLOCKS.contains(&name) => text.push('\n'),
            _ => {}
        }
    }
}

/// Returns the value of an attribute of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut at = 0;
    while let Some(found) = tag.get(at..)?.find(name) {
        let start = at + found;
        at = start + name.len();
        let is_name = tag.get(..start)?.ends_with(char::is_whitespace);
        let value = tag
            .get(at..)?
            .trim_start()
            .strip_prefix('=')
            .filter(|_| is_name)
            .map(str::trim_start);
        let Some(value) = value else { continue };
        let value = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split(quote).next()?,
            _ => value.split_whitespace().next()?,
        };
        return Some(unescaped(value)).filter(|value| !value.is_empty());
    }
    None
}

/// Replaces the usual character references.
fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let references = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    references
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_text_across_lines() {
        let page = "<!DOCTYPE html><html><head><title>Prices</title><style>p {\n color: red }</style>\n<script>if (a < b) {}</script>\
                    </head>\n<body><!-- a\nb --><p class='x'\n data-y=\"1\">Tea &amp; milk <a data-href='no' href=\"/tea?a=1&amp;b=2\">more</a>\
                    </p><ul><li>one<li>two</ul><img alt='A cup'><table><tr><td>1</td><td>2</td></tr></table>";
        let mut sheet = Sheet::of(page);
        assert!(shorten(&mut sheet));
        let text = sheet.render();
        assert_eq!(
            text,
            "Prices\nTea & milk more (/tea?a=1&b=2)\n- one\n- two [A cup]\n1 | 2 |"
        );
    }

    #[test]
    fn other_texts_are_no_pages() {
        for text in ["a < b", "<?xml version='1.0'?><html/>", "<config><a/></config>", ""] {
            assert!(!shorten(&mut Sheet::of(text)), "{text}");
        }
        // A tag that never ends.
        let mut sheet = Sheet::of("<html><body>text<p <p <p");
        assert!(shorten(&mut sheet));
        assert_eq!(sheet.render(), "text");
    }
}
