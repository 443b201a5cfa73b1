//! [`Page`]: a reply of a web server, and its text.

use agcore::{chat::text::prefix, files::decode_text, tools::ToolError};
use http::{HeaderMap, header};
use url::Url;

/// The longest text that is returned, in bytes.
const MAX_TEXT: usize = 48 * 1024;

/// The width of lines of text that was HTML.
const WIDTH: usize = 100;

/// Types other than `text/…` whose content is text.
const TEXTS: [&str; 6] = ["json", "xml", "javascript", "yaml", "toml", "x-www-form-urlencoded"];

/// A reply of a web server.
#[derive(Debug)]
pub(super) struct Page {
    status: u16,
    kind: String,
    pub(super) body: Vec<u8>,
    /// Whether the end of the body is missing.
    pub(super) is_cut: bool,
}

impl Page {
    /// Creates a page without a body.
    pub(super) fn new(status: u16, headers: &HeaderMap) -> Self {
        let header = |name| {
            headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        Self {
            status,
            kind: header(header::CONTENT_TYPE).unwrap_or_default().to_lowercase(),
            body: Vec::new(),
            is_cut: false,
        }
    }

    /// Returns the text of the page, after a line about its address and status.
    ///
    /// # Errors
    /// When it is not text.
    pub(super) fn text(&self, url: &Url) -> Result<String, ToolError> {
        let kind = self.kind.split(';').next().unwrap_or_default().trim();
        let is_text = kind.is_empty() || kind.starts_with("text/") || TEXTS.iter().any(|text| kind.contains(text));
        let decoded = decode_text(&self.body, &self.kind);
        if !is_text || decoded.contains('\0') {
            return Err(ToolError::failed(format!("{url} is not text but {kind:?}")));
        }
        let text = match kind.contains("html") {
            true => html2text::from_read(decoded.as_bytes(), WIDTH)
                .map_err(|error| ToolError::failed(format!("the HTML of {url} cannot be converted: {error}")))?,
            false => decoded,
        };
        let shown = prefix(&text, MAX_TEXT);
        let end = match self.is_cut || shown.len() < text.len() {
            true => "\n[the rest of the page is left out]\n",
            false => "",
        };
        Ok(format!("{url} (HTTP {})\n\n{shown}{end}", self.status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(kind: &str, body: &[u8]) -> Page {
        Page {
            status: 200,
            kind: kind.to_owned(),
            body: body.to_vec(),
            is_cut: false,
        }
    }

    #[test]
    fn returns_text_only() {
        let url = Url::parse("https://example.org/a").unwrap();
        let html = page(
            "text/html; charset=utf-8",
            b"<h1>Title</h1><script>x()</script><p>Some <b>text</b></p>",
        );
        let text = html.text(&url).unwrap();
        assert!(text.starts_with("https://example.org/a (HTTP 200)\n\n"), "{text}");
        assert!(
            text.contains("Title") && text.contains("text") && !text.contains("x()"),
            "{text}"
        );
        assert!(page("application/json", b"{}").text(&url).unwrap().ends_with("{}"));
        assert!(page("image/png", b"x").text(&url).is_err());
        assert!(page("text/plain", b"a\0b").text(&url).is_err());
        assert!(
            page("text/plain; charset=utf-16le", b"a\0b\0")
                .text(&url)
                .unwrap()
                .ends_with("ab")
        );
        // 价格 in GBK, declared by the server or the page.
        for (kind, html) in [
            ("text/html; charset=gbk", &b"<p>\xbc\xdb\xb8\xf1</p>"[..]),
            ("text/html", b"<meta charset=gb2312><p>\xbc\xdb\xb8\xf1</p>"),
            ("", b"<?xml version='1.0' encoding='gbk'?><p>\xbc\xdb\xb8\xf1</p>"),
        ] {
            let text = page(kind, html).text(&url).unwrap();
            assert!(text.contains("\u{4ef7}\u{683c}"), "{kind}: {text}");
        }
        let layout = page(
            "text/html",
            b"<table><tr><td>Layout table text of the page</td></tr></table>",
        );
        assert!(layout.text(&url).unwrap().contains("Layout table text"));
        let long = page("text/plain", "字".repeat(MAX_TEXT).as_bytes()).text(&url).unwrap();
        assert!(long.len() < MAX_TEXT + 200 && long.contains("left out"));
    }
}
