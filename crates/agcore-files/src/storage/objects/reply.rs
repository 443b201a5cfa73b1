//! Errors of servers.

use super::{
    place::{BucketPlace, misconfigured},
    request::ObjectReply,
};
use crate::storage::{StorageError, StorageErrorKind};

/// The longest code of an error that is shown.
const MAX_CODE: usize = 64;

/// Returns the error of a reply. What the server writes besides its code is not shown: it quotes the keys and the signature.
pub(super) fn failed(place: &BucketPlace, path: &str, reply: &ObjectReply) -> StorageError {
    let server = place.server();
    let code = code(&reply.body);
    let reported = code.map(|code| format!(", {code}")).unwrap_or_default();
    let status = reply.status;
    match (status, code) {
        (404, Some("NoSuchKey")) if !path.is_empty() => {
            let message = format!("there is no file {path:?} in this storage; check the path");
            StorageError::new(StorageErrorKind::NotFound, message)
        }
        (404, _) => misconfigured(format!(
            "there is no such bucket at {server} (HTTP 404{reported}); create it, or check its name and region"
        )),
        (401 | 403, Some("RequestTimeTooSkewed")) => misconfigured(format!(
            "{server} refuses the request because the clocks differ (HTTP {status}{reported}); set the clock of this machine"
        )),
        (401 | 403, _) => misconfigured(format!(
            "{server} refuses the keys (HTTP {status}{reported}); check the access key, its secret and its permissions"
        )),
        (301 | 302 | 307 | 308, _) => misconfigured(format!(
            "{server} sends to another server (HTTP {status}{reported}); check the region of the bucket"
        )),
        (429 | 500..=599, _) => StorageError::new(
            StorageErrorKind::Unavailable,
            format!("{server} cannot do what was asked for now (HTTP {status}{reported}); try again later"),
        ),
        _ => misconfigured(format!(
            "{server} does not accept the request for {path:?} (HTTP {status}{reported}); check whether it has the API of S3"
        )),
    }
}

/// Returns the code in the XML of an error, such as `NoSuchKey`. Nothing else of it is read.
fn code(body: &[u8]) -> Option<&str> {
    let text = str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_code = !code.is_empty() && code.len() <= MAX_CODE && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_code.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_distinguished() {
        let place = BucketPlace::aws("b", "r").unwrap();
        let error = |status, body: &str| failed(&place, "a.txt", &ObjectReply::new(status, body.into()));
        let xml = |code: &str| {
            format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>AKIASECRET</Message></Error>")
        };
        use StorageErrorKind::{Misconfigured, NotFound, Unavailable};
        for (status, body, kind, part) in [
            (404, xml("NoSuchKey"), NotFound, "no file \"a.txt\""),
            (404, xml("NoSuchBucket"), Misconfigured, "no such bucket"),
            (404, String::new(), Misconfigured, "no such bucket"),
            (
                403,
                xml("SignatureDoesNotMatch"),
                Misconfigured,
                "refuses the keys (HTTP 403, SignatureDoesNotMatch)",
            ),
            (403, xml("RequestTimeTooSkewed"), Misconfigured, "clock"),
            (301, xml("PermanentRedirect"), Misconfigured, "region"),
            (503, xml("SlowDown"), Unavailable, "try again later"),
            (500, "<html>".to_owned(), Unavailable, "HTTP 500)"),
            (400, xml("<script>"), Misconfigured, "HTTP 400)"),
            (200, xml(&"x".repeat(65)), Misconfigured, "HTTP 200)"),
        ] {
            let error = error(status, &body);
            let text = error.to_string();
            assert_eq!(error.kind(), kind, "{text}");
            assert!(text.contains(part) && !text.contains("AKIASECRET"), "{text}");
        }
    }
}
