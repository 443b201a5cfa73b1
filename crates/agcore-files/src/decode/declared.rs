//! Finds the encoding that a text declares, with the labels of the web.

use encoding_rs::Encoding;

/// The number of bytes that are searched. Browsers search the first 1024, and decode again if they find a declaration later.
const SEARCHED_BYTES: usize = 16 << 10;

/// Elements whose content is not HTML.
const RAW: [&[u8]; 4] = [b"script", b"style", b"textarea", b"title"];

/// Returns the encoding that an HTML or XML text declares, in `<meta>` or `<?xml?>`.
pub(super) fn declared(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = &content[..content.len().min(SEARCHED_BYTES)];
    if let Some(encoding) = of_xml(rest) {
        return Some(encoding);
    }
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at..];
        if rest.starts_with(b"<!--") {
            // `<!-->` is a whole comment.
            let end = memchr::memmem::find(&rest[2..], b"-->")?;
            rest = &rest[2 + end + 3..];
            continue;
        }
        let tag = Tag::read(&rest[1..]);
        rest = &rest[1..];
        let Some((tag, after)) = tag else { continue };
        rest = after;
        if tag.name == b"meta" {
            if let Some(encoding) = tag.encoding() {
                return Some(encoding);
            }
        } else if RAW.contains(&&*tag.name) {
            rest = &rest[end_of(rest, &tag.name)..];
        }
    }
    None
}

/// Returns the encoding of the parameter `charset` in a media type, as in headers of HTTP and in `<meta>`.
pub(super) fn charset_of(text: &[u8]) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(&lower[from..], b"charset") {
        from += at + b"charset".len();
        let rest = lower[from..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let value = match value.first() {
            Some(quote @ (b'"' | b'\'')) => value[1..].split(|byte| byte == quote).next(),
            _ => value
                .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b','))
                .next(),
        };
        return Encoding::for_label_no_replacement(value?);
    }
    None
}

/// Returns the encoding of the declaration at the beginning of an XML text.
pub(crate) fn of_xml(content: &[u8]) -> Option<&'static Encoding> {
    let rest = content.trim_ascii_start().strip_prefix(b"<?xml")?;
    let declaration = &rest[..memchr::memmem::find(rest, b"?>").unwrap_or(rest.len().min(200))];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration[at + b"encoding".len()..]
        .trim_ascii_start()
        .strip_prefix(b"=")?;
    let value = value.trim_ascii_start();
    let quote = value.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    encoding(value[1..].split(|byte| byte == quote).next()?)
}

/// Returns the encoding with a label that a text has for itself.
fn encoding(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label).map(readable)
}

/// Returns the encoding that is meant: a text whose declaration could be read is not in UTF-16.
fn readable(found: &'static Encoding) -> &'static Encoding {
    if found == encoding_rs::UTF_16LE || found == encoding_rs::UTF_16BE {
        encoding_rs::UTF_8
    } else if found == encoding_rs::X_USER_DEFINED {
        encoding_rs::WINDOWS_1252
    } else {
        found
    }
}

/// Returns where the end tag of an element begins.
fn end_of(text: &[u8], name: &[u8]) -> usize {
    let found = memchr::memmem::find_iter(text, b"</").find(|at| {
        let rest = &text[at + 2..];
        rest.len() >= name.len() && rest[..name.len()].eq_ignore_ascii_case(name)
    });
    found.unwrap_or(text.len())
}

/// A tag with its attributes, in lower case.
struct Tag {
    name: Vec<u8>,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Tag {
    /// Reads what follows `<`, and returns it with the text after the tag, or `None` if that is not a start tag.
    fn read(text: &[u8]) -> Option<(Self, &[u8])> {
        text.first().filter(|byte| byte.is_ascii_alphabetic())?;
        let end = position(text, |byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
        let mut tag = Self {
            name: text[..end].to_ascii_lowercase(),
            attributes: Vec::new(),
        };
        let mut rest = &text[end..];
        loop {
            let skipped = position(rest, |byte| !byte.is_ascii_whitespace() && byte != b'/');
            rest = &rest[skipped..];
            match rest.first() {
                None => return Some((tag, rest)),
                Some(b'>') => return Some((tag, &rest[1..])),
                Some(_) => {}
            }
            // An attribute may begin with `=`.
            let end = 1 + position(&rest[1..], |byte| {
                byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=')
            });
            let name = rest[..end].to_ascii_lowercase();
            let (value, after) = value(&rest[end..]);
            rest = after;
            tag.attributes.push((name, value.to_ascii_lowercase()));
        }
    }

    fn attribute(&self, name: &[u8]) -> Option<&[u8]> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_slice())
    }

    /// Returns the encoding that the tag declares.
    fn encoding(&self) -> Option<&'static Encoding> {
        if let Some(label) = self.attribute(b"charset") {
            return encoding(label);
        }
        let is_type = self
            .attribute(b"http-equiv")
            .is_some_and(|name| name.trim_ascii() == b"content-type");
        charset_of(self.attribute(b"content").filter(|_| is_type)?).map(readable)
    }
}

/// Returns the value of an attribute and what follows it.
fn value(text: &[u8]) -> (&[u8], &[u8]) {
    let trimmed = text.trim_ascii_start();
    let Some(rest) = trimmed.strip_prefix(b"=") else {
        return (b"", text);
    };
    let rest = rest.trim_ascii_start();
    match rest.first() {
        Some(quote @ (b'"' | b'\'')) => {
            let end = 1 + position(&rest[1..], |byte| byte == *quote);
            (&rest[1..end], &rest[rest.len().min(end + 1)..])
        }
        _ => {
            let end = position(rest, |byte| byte.is_ascii_whitespace() || byte == b'>');
            rest.split_at(end)
        }
    }
}

fn position(text: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|byte| is_end(*byte)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(declared(text.as_bytes()).map(Encoding::name), expected, "{text}");
    }

    #[test]
    fn declarations_are_found_as_in_browsers() {
        check("<meta charset=gb2312>", Some("GBK"));
        check("<META CharSet = ' Shift_JIS '/>", Some("Shift_JIS"));
        check(
            "<meta http-equiv=content-type content='text/html; charset=iso-8859-15'>",
            Some("ISO-8859-15"),
        );
        check(
            "<meta content=\"text/html;charset=big5\" http-equiv=\"Content-Type\">",
            Some("Big5"),
        );
        check(
            "<meta name=x content='charset=big5'><meta charset=euc-kr>",
            Some("EUC-KR"),
        );
        check(
            "<?xml version='1.0' encoding=\"windows-1251\"?><html>",
            Some("windows-1251"),
        );
        check("<?xml version='1.0'?><html><meta charset=koi8-r>", Some("KOI8-R"));
        check(
            "<!-- <meta charset=big5> --><meta charset=iso-8859-1>",
            Some("windows-1252"),
        );
        check("<!--><meta charset=big5>", Some("Big5"));
        check(
            "<title><meta charset=big5></title><script>'<meta charset=big5>'</SCRIPT><meta charset=gbk>",
            Some("GBK"),
        );
        // A text whose declaration can be read is not UTF-16.
        check("<meta charset=utf-16>", Some("UTF-8"));
        check("<meta charset=x-user-defined>", Some("windows-1252"));
    }

    #[test]
    fn other_texts_declare_nothing() {
        for text in [
            "",
            "<",
            "<meta",
            "<meta charset",
            "<meta charset=",
            "<meta charset=nonsense>",
            "charset=gbk",
            "<p>a < b",
            "<!--",
            "<?xml",
            "</meta charset=gbk>",
            "<metal charset=gbk>",
        ] {
            check(text, None);
        }
        assert_eq!(charset_of(b"text/html; charset").map(Encoding::name), None);
        assert_eq!(
            charset_of(b"text/html; charset charset=\"gbk\"").map(Encoding::name),
            Some("GBK")
        );
    }
}
