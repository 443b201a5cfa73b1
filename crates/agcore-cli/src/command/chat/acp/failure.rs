//! Failures of the program as errors of the protocol.

use agcore_acp::{AcpError, AcpErrorKind};

use crate::exit::{Failure, FailureKind};

/// The ways to give the program a key.
pub(super) const SIGN_IN: &str = "Set a key with `agcore keys set` or `agcore init` in a terminal, or in the environment of the \
editor. It is never sent over the protocol.";

/// Returns the failure for the editor, with what the user can do.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(super) fn failed(failure: Failure) -> AcpError {
    let kind = match failure.kind() {
        _ if failure.is_held() => AcpErrorKind::Busy,
        FailureKind::Key => AcpErrorKind::SignInRequired,
        FailureKind::Usage => AcpErrorKind::InvalidInput,
        _ => AcpErrorKind::Internal,
    };
    let advice = match failure.kind() {
        FailureKind::Key => format!("\n{SIGN_IN}"),
        _ if failure.is_out_of_date() => "\nLoad the session again to continue it here.".to_owned(),
        _ => String::new(),
    };
    AcpError::new(kind, format!("{failure}{advice}"))
}
