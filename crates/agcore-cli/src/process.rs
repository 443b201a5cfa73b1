//! The resources of the process: standard input and output, and environment variables.

use std::{
    env,
    ffi::OsString,
    io::{self, Read, Write},
};

use crate::exit::Failure;

/// Writes text to standard output unchanged and flushes it.
///
/// # Errors
/// When the output cannot be written, for example because its reader has gone away.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| Failure::output(&error))
}

/// Reads all of standard input on a blocking thread, so that Ctrl-C can end the wait.
///
/// # Errors
/// When standard input cannot be read or is not UTF-8.
pub(crate) async fn read_stdin() -> Result<String, Failure> {
    let read_all = || {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    };
    let read = tokio::task::spawn_blocking(read_all)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    let bytes = read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
    decode(bytes)
}

/// Returns the value of an environment variable, or `None` if it is unset, empty or not UTF-8.
pub(crate) fn variable(name: &str) -> Option<String> {
    os_variable(name)?.into_string().ok()
}

/// Returns the value of an environment variable, or `None` if it is unset or empty.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub(crate) fn os_variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the names of all environment variables that are UTF-8.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub(crate) fn variable_names() -> impl Iterator<Item = String> {
    env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

fn decode(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to() + 1;
        Failure::usage(format!(
            "standard input is not valid UTF-8: byte {position} is invalid; convert it first, for example with `iconv`"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_first_byte_that_is_not_utf8() {
        assert_eq!(decode("你好".into()).unwrap(), "你好");
        let error = decode(b"ab\xff".to_vec()).unwrap_err().to_string();
        assert!(error.contains("byte 3 is invalid"), "{error}");
    }
}
