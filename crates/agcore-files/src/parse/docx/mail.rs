//! Finds the HTML of a web page that is saved like an e-mail (MHTML).

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use memchr::memmem;

use crate::decode::decode_text;

/// The largest depth to which parts within parts are read.
const MAX_DEPTH: usize = 4;

/// Returns the first HTML in a message.
pub(super) fn html(message: &[u8]) -> Option<String> {
    part(message, 0)
}

fn part(part: &[u8], depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let (headers, body) = split(part);
    let kind = header(&headers, "content-type").unwrap_or_default();
    let lower = kind.to_ascii_lowercase();
    if lower.starts_with("multipart/") {
        let boundary = format!("--{}", parameter(&kind, "boundary")?);
        let mut parts = pieces(body, boundary.as_bytes());
        return parts.find_map(|piece| self::part(piece, depth + 1));
    }
    if !lower.starts_with("text/html") && !lower.starts_with("application/xhtml") {
        return None;
    }
    let encoding = header(&headers, "content-transfer-encoding").unwrap_or_default();
    let content = match encoding.trim().to_ascii_lowercase().as_str() {
        "quoted-printable" => quoted_printable(body),
        "base64" => base64(body)?,
        _ => body.to_vec(),
    };
    Some(decode_text(&content, &kind))
}

/// Splits a part at its first blank line, and puts headers on one line each.
fn split(part: &[u8]) -> (String, &[u8]) {
    let blank = [&b"\r\n\r\n"[..], b"\n\n"];
    let ends = blank
        .iter()
        .filter_map(|blank| Some((memmem::find(part, blank)?, blank.len())));
    let (headers, body) = match ends.min() {
        Some((end, length)) => (&part[..end], &part[end + length..]),
        None => (&part[..0], part),
    };
    let headers = String::from_utf8_lossy(headers).replace("\r\n", "\n");
    (headers.replace("\n ", " ").replace("\n\t", " "), body)
}

fn header(headers: &str, name: &str) -> Option<String> {
    headers.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.trim().eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

fn parameter(value: &str, name: &str) -> Option<String> {
    value.split(';').skip(1).find_map(|parameter| {
        let (found, value) = parameter.split_once('=')?;
        let is_named = found.trim().eq_ignore_ascii_case(name);
        is_named.then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// Returns the parts between lines that begin with a boundary.
fn pieces<'b>(body: &'b [u8], boundary: &'b [u8]) -> impl Iterator<Item = &'b [u8]> {
    let starts: Vec<usize> = memmem::find_iter(body, boundary)
        .filter(|at| *at == 0 || body[at - 1] == b'\n')
        .collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([body.len()]).collect();
    starts.into_iter().zip(ends).map(move |(start, end)| {
        let piece = &body[start + boundary.len()..end];
        let line = memchr::memchr(b'\n', piece).map_or(piece.len(), |end| end + 1);
        &piece[line..]
    })
}

fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut content = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'=' {
            content.push(*byte);
            continue;
        }
        let digit = |byte: &u8| {
            char::from(*byte)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        };
        match after {
            [b'\r', b'\n', after @ ..] | [b'\n', after @ ..] => rest = after,
            [high, low, after @ ..] if digit(high).is_some() && digit(low).is_some() => {
                content.push(digit(high).unwrap_or_default() << 4 | digit(low).unwrap_or_default());
                rest = after;
            }
            _ => content.push(b'='),
        }
    }
    content
}

fn base64(body: &[u8]) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let body: Vec<u8> = body
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    GeneralPurpose::new(&alphabet::STANDARD, config).decode(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: Option<&str>) {
        assert_eq!(html(message.as_bytes()).as_deref(), expected, "{message}");
    }

    #[test]
    fn the_first_html_is_found_and_decoded() {
        let quoted = "MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\tboundary=\"x\"\r\n\r\nignored\r\n--x\r\n\
                      Content-Type: image/png\r\n\r\nno\r\n--x\r\nContent-Transfer-Encoding: quoted-printable\r\n\
                      Content-Type: text/html; charset=gb2312\r\n\r\n<p class=3D\"a\">=\r\n=BC=DB=b8=F1 = =x</p>\r\n--x--\r\n";
        check(quoted, Some("<p class=\"a\">价格 = =x</p>\r\n"));
        check(
            "content-type: TEXT/HTML\ncontent-transfer-encoding: BASE64\n\nPHA+\n4oKs",
            Some("<p>€"),
        );
        check("Content-Type: text/html\n\n<p>a", Some("<p>a"));
    }

    #[test]
    fn broken_messages_have_no_html() {
        for message in [
            "",
            "\n\n",
            "Content-Type: multipart/related\n\n--",
            "Content-Type: text/plain\n\na",
            "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n!!",
        ] {
            check(message, None);
        }
        // Parts in parts in parts.
        let deep = "Content-Type: multipart/mixed; boundary=x\n\n--x\n".repeat(100_000);
        check(&deep, None);
    }
}
