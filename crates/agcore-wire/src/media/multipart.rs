//! [`Multipart`]: the body of a form with a file (RFC 7578).

use agcore_chat::Extra;
use bytes::Bytes;
use http::{HeaderValue, header};
use memchr::memmem;
use serde_json::Value;

use crate::{
    encode::{extra_headers, invalid_request},
    error::LlmError,
    wire::WireRequest,
};

/// A form with fields and one file.
#[derive(Debug)]
pub(super) struct Multipart<'a> {
    fields: Vec<(String, String)>,
    file_name: &'a str,
    file: &'a [u8],
}

impl<'a> Multipart<'a> {
    /// Creates a form with a file in the field `file`.
    pub(super) fn new(file_name: &'a str, file: &'a [u8]) -> Self {
        Self {
            fields: Vec::new(),
            file_name,
            file,
        }
    }

    /// Adds a field.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.fields.push((name.to_owned(), value.into()));
    }

    /// Adds a field if there is a value.
    pub(super) fn set_some(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// Adds fields from extra members. A list becomes several fields; an object cannot be expressed.
    pub(super) fn set_extra(&mut self, extra: &Extra) -> Result<(), LlmError> {
        for (name, value) in extra.iter() {
            let values = match value {
                Value::Array(values) => values.as_slice(),
                one => std::slice::from_ref(one),
            };
            for value in values {
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    _ => {
                        let message = format!(
                            "extra_body: `{name}` cannot be a field of a form: use text, a number or a list of these"
                        );
                        return Err(invalid_request(message));
                    }
                };
                self.set(name, text);
            }
        }
        Ok(())
    }

    /// Creates a POST request with the form.
    pub(super) fn post(self, path: &str, headers: &[(String, String)]) -> Result<WireRequest, LlmError> {
        let boundary = self.boundary();
        let mut request = WireRequest::post(path, self.body(&boundary)?);
        let content_type = HeaderValue::from_str(&format!("multipart/form-data; boundary={boundary}"));
        let content_type = content_type.map_err(|error| invalid_request(error.to_string()))?;
        request.headers.insert(header::CONTENT_TYPE, content_type);
        extra_headers::add(&mut request.headers, headers).map_err(invalid_request)?;
        Ok(request)
    }

    /// Returns a boundary that does not occur in any part. Without randomness, so that equal requests have equal bodies.
    fn boundary(&self) -> String {
        let occurs = |boundary: &str| {
            let mut parts = self.fields.iter().map(|(_, value)| value.as_bytes()).chain([self.file]);
            parts.any(|part| memmem::find(part, boundary.as_bytes()).is_some())
        };
        let boundaries = (0_u64..).map(|number| format!("agcore-form-{number:016x}"));
        // There are more boundaries than a part has places for them.
        boundaries
            .into_iter()
            .find(|boundary| !occurs(boundary))
            .unwrap_or_default()
    }

    fn body(&self, boundary: &str) -> Result<Bytes, LlmError> {
        let mut body = Vec::with_capacity(self.file.len() + 1024);
        for (name, value) in &self.fields {
            let head = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n",
                quoted(name)?
            );
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(value.as_bytes());
            body.extend_from_slice(b"\r\n");
        }
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n",
            quoted(self.file_name)?
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(self.file);
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        Ok(body.into())
    }
}

/// Returns a name as it is written between quotes. A line end could add a field.
fn quoted(name: &str) -> Result<String, LlmError> {
    if name.chars().any(char::is_control) {
        let name = name.escape_debug();
        return Err(invalid_request(format!(
            "`{name}` is not a valid name of a field or file: it contains control characters"
        )));
    }
    Ok(name.replace('"', "%22"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_fields_and_the_file() {
        let mut form = Multipart::new("a \"b\".wav", b"\0\xFFdata");
        form.set("model", "whisper-1");
        form.set_some("language", None);
        let mut extra = Extra::new();
        extra.insert("include[]", serde_json::json!(["logprobs", 1]));
        form.set_extra(&extra).unwrap();
        let request = form.post("/audio/transcriptions", &[]).unwrap();
        let boundary = "agcore-form-0000000000000000";
        assert_eq!(
            request.headers["content-type"],
            format!("multipart/form-data; boundary={boundary}").as_str()
        );
        let field = |name: &str, value: &str| {
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let mut expected = [
            field("model", "whisper-1"),
            field("include[]", "logprobs"),
            field("include[]", "1"),
        ]
        .concat()
        .into_bytes();
        expected.extend_from_slice(
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a %22b%22.wav\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n"
            )
            .as_bytes(),
        );
        expected.extend_from_slice(b"\0\xFFdata");
        expected.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        assert_eq!(request.body, expected);
    }

    #[test]
    fn a_boundary_in_the_data_is_not_used() {
        let form = Multipart::new("a.wav", b"..agcore-form-0000000000000000..");
        assert_eq!(form.boundary(), "agcore-form-0000000000000001");
    }

    #[test]
    fn names_cannot_add_fields() {
        let form = Multipart::new("a\r\nX: 1", b"");
        assert!(
            form.post("/x", &[])
                .unwrap_err()
                .message()
                .contains("control characters")
        );
        let mut extra = Extra::new();
        extra.insert("a", serde_json::json!({"b": 1}));
        assert!(Multipart::new("a", b"").set_extra(&extra).is_err());
    }
}
