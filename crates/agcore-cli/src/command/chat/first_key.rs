//! Offers `agcore init` to someone who has no key yet.

use agcore::llm::LlmErrorKind;
use agcore_args::InitArgs;
use agcore_settings::Settings;
use agcore_terminal::{interrupt::Interrupts, render::Color};

use crate::{
    command::setup::init,
    exit::{Failure, setup_failure},
    stdout::print_list,
    trust_dialog::ask_yes_or_no,
};

/// Asks whether to run `agcore init` if a key is missing, and runs it. Returns whether it has run, so that the settings must be
/// read again.
///
/// # Errors
/// When the key is missing and the user answers no, or `agcore init` fails.
pub(super) async fn offer_init(settings: &Settings, interrupts: &Interrupts, color: Color) -> Result<bool, Failure> {
    let error = match settings.provider.build() {
        Err(error) if error.kind() == LlmErrorKind::Authentication => error,
        _ => return Ok(false),
    };
    let provider = settings.provider.name();
    print_list(&format!(
        "There is no API key for {provider} yet. `agcore init` asks for what is missing.\n"
    ))?;
    if !ask_yes_or_no("Run it now? [y]es, [n]o: ", interrupts).await? {
        return Err(setup_failure(settings.report(), error));
    }
    Box::pin(init::run(&InitArgs::default(), color)).await?;
    Ok(true)
}
