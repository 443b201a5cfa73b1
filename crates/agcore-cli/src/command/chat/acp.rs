//! `agcore acp`: agents in an editor, with the Agent Client Protocol.

mod files;
mod failure;
mod hosted;
mod mcp_servers;
mod host;

use agcore_args::AcpArgs;
use agcore_terminal::{interrupt::Interrupts, render::Color};
use tokio_util::sync::CancellationToken;

use self::host::EditorHost;

use crate::{exit::Failure, sessions::Sessions};

/// Serves the editor that has started the program until it closes standard input, or until Ctrl-C or SIGTERM.
///
/// # Errors
/// When the connection to the editor fails.
pub(crate) async fn run(args: AcpArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let chat = args.into_chat();
    let sessions = Sessions::of_chat(&chat.session).await?;
    let host = EditorHost::new(chat, sessions, interrupts.clone(), color);
    let stop = CancellationToken::new();
    let _meaning = interrupts.cancel(&stop);
    let served = agcore_acp::serve(host, tokio::io::stdin(), tokio::io::stdout(), stop.clone()).await;
    match served {
        Ok(()) if stop.is_cancelled() => Err(Failure::cancelled()),
        Ok(()) => Ok(()),
        Err(error) => Err(Failure::task(error.to_string())),
    }
}
