//! Text from standard input.

use std::io::{self, Read};

use crate::exit::Failure;

/// Reads all of standard input, on a thread of its own, so that Ctrl-C ends the wait.
///
/// # Errors
/// When it cannot be read or is no text.
pub(crate) async fn read() -> Result<String, Failure> {
    let all = || {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    };
    let read = tokio::task::spawn_blocking(all)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    let bytes = read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    text(bytes)
}

fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        Failure::usage(format!(
            "standard input is not UTF-8 text: byte {at} fits nowhere; convert it first, as iconv does"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_is_no_text_is_named() {
        assert_eq!(text("你好".into()).unwrap(), "你好");
        let error = text(b"ab\xff".to_vec()).unwrap_err().to_string();
        assert!(error.contains("byte 3 fits nowhere"), "{error}");
    }
}
