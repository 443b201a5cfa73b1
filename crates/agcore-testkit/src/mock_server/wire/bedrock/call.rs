//! [`BedrockCall`]: the model and the operation in a path.

/// The beginning of all paths of the API.
const MODEL: &str = "/model/";

/// The model and the operation in a path of Bedrock: `/model/{model}/{operation}`, in which the model is one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BedrockCall<'a> {
    /// The id of the model, without escapes.
    pub(crate) model: String,
    operation: &'a str,
}

impl<'a> BedrockCall<'a> {
    /// Reads a path; `None` for those of other APIs.
    pub(crate) fn of(path: &'a str) -> Option<Self> {
        let (model, operation) = path.strip_prefix(MODEL)?.split_once('/')?;
        Some(Self {
            model: unescaped(model)?,
            operation,
        })
    }

    /// Returns whether an answer is requested.
    pub(crate) fn is_conversation(&self) -> bool {
        self.operation == "converse" || self.is_streamed()
    }

    /// Returns whether the reply is streamed.
    pub(crate) fn is_streamed(&self) -> bool {
        self.operation == "converse-stream"
    }
}

/// Replaces the escapes of a segment; `None` if one is invalid.
fn unescaped(segment: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(segment.len()), segment);
    while let Some((before, escape)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(escape.get(..2)?, 16).ok()?);
        rest = &escape[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_paths() {
        let call = BedrockCall::of("/model/us.amazon.nova-lite-v1%3A0/converse-stream").unwrap();
        assert_eq!(
            (call.model.as_str(), call.is_streamed()),
            ("us.amazon.nova-lite-v1:0", true)
        );
        let arn = BedrockCall::of("/model/arn%3Aaws%3Abedrock%3Ar%3A1%3Aprofile%2Fa/converse").unwrap();
        assert_eq!(arn.model, "arn:aws:bedrock:r:1:profile/a");
        assert!(arn.is_conversation() && !arn.is_streamed());
        assert!(!BedrockCall::of("/model/m/invoke").unwrap().is_conversation());
        for other in [
            "/model/m",
            "/models/m/converse",
            "/model/%/converse",
            "/model/%zz/converse",
        ] {
            assert_eq!(BedrockCall::of(other), None, "{other}");
        }
    }
}
