//! The failures of a server, and how to resolve them.

use agcore_server::ServerError;

use crate::exit::Failure;

/// Returns who uses the database, with the address of the machine.
pub(super) fn in_use(error: &ServerError) -> String {
    match error {
        ServerError::InUse(holder) => {
            let address = holder.address.as_ref().map(|address| format!(", at {address}"));
            format!(
                "another server uses the database: {holder}{}",
                address.unwrap_or_default()
            )
        }
        error => error.to_string(),
    }
}

/// Returns the failure of the command for an error of the server.
pub(super) fn failure(error: ServerError) -> Failure {
    if let ServerError::InUse(_) = &error {
        let text = in_use(&error);
        return Failure::task(format!(
            "{text}\nStop it first, or use `agcore serve --hand-over`, which waits until it has ended and continues its runs. Processes \
             that were all started with --role share a database."
        ));
    }
    Failure::task(agcore::chat::text::error_chain(&error))
}
