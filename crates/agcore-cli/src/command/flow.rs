//! `agcore flow`: runs, checks and draws flow files.

mod file;
mod given_files;
mod kept_options;
mod profile;
mod turn;
mod check;
mod draw;
mod progress;
mod run;

use agcore::flow::FlowFile;
use agcore_args::FlowCommand;
use agcore_terminal::{interrupt::Interrupts, render::Color};

use self::{check::check, draw::draw};
use super::chat::Front;

use crate::{exit::Failure, output::Output, stdout::print, trust_dialog::silence_notices};

pub(in crate::command) use self::run::{FlowRun, run_file};

/// Runs a `flow` command.
///
/// # Errors
/// When a file cannot be read or has problems, the settings are invalid, a node fails, or the run waits for an answer.
pub(crate) async fn run(
    command: &FlowCommand,
    interrupts: &Interrupts,
    color: Color,
    output: Option<&Output>,
) -> Result<(), Failure> {
    match command {
        FlowCommand::Run(args) => {
            silence_notices(args.chat.quiet);
            let front = Front {
                interrupts,
                color,
                output,
            };
            let flow = FlowRun {
                file: &args.file,
                chat: &args.chat,
                values: &args.flow,
            };
            Box::pin(run_file(&flow, &front)).await
        }
        FlowCommand::Check(args) => check(&args.files),
        FlowCommand::Draw(args) => draw(args).await,
        FlowCommand::Schema => {
            let schema = FlowFile::json_schema();
            print(&format!("{schema:#}\n"))
        }
    }
}
