//! [`Telemetry`]: the log and the span exporter.

mod collector;
mod log;
#[cfg(feature = "otel")]
mod client;
#[cfg(feature = "otel")]
mod export;

use std::io::{self, Write};

use agcore_settings::LOG;
use agcore_terminal::{process::variable, render::sanitized};
use tokio::runtime::Handle;
use tracing_subscriber::{Layer, Registry, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{args::LogLevel, exit::Failure};

pub(crate) use self::{collector::Collector, log::LogForm};

/// The reason that this build cannot export spans, or `None` if it can.
pub(crate) const EXPORT_UNAVAILABLE: Option<&str> = if cfg!(feature = "otel") {
    None
} else {
    Some("this build cannot export spans; rebuild it with `--features otel`")
};

/// Installed logging and tracing. Sends the remaining spans when dropped.
#[derive(Debug, Default)]
#[must_use = "the remaining spans are sent when this is dropped"]
pub(crate) struct Telemetry {
    #[cfg(feature = "otel")]
    exporter: Option<export::Exporter>,
}

impl Telemetry {
    /// Installs the log and the exporter that are enabled. If there are none, spans are disabled and cost nothing.
    ///
    /// # Errors
    /// When the log level is invalid.
    pub(crate) fn install(
        (level, form): (Option<LogLevel>, LogForm),
        shows_conversation: bool,
        runtime: &Handle,
    ) -> Result<Self, Failure> {
        let level = log_level(level, form)?;
        let mut layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = Vec::new();
        match level {
            Some(_) if shows_conversation => {
                warn("the log is off because the chat uses this terminal; redirect it with `2> FILE`");
            }
            Some(level) => layers.push(log::layer(level, form)),
            None => {}
        }
        let telemetry = Self::with_exporter(&mut layers, runtime);
        if !layers.is_empty() {
            // Nothing else in this program installs a subscriber.
            let _ = tracing_subscriber::registry().with(layers).try_init();
        }
        Ok(telemetry)
    }

    #[cfg(feature = "otel")]
    fn with_exporter(layers: &mut Vec<Box<dyn Layer<Registry> + Send + Sync>>, runtime: &Handle) -> Self {
        let Some(collector) = Collector::from_variables(variable) else {
            return Self::default();
        };
        match export::Exporter::new(&collector, runtime.clone()) {
            Ok(exporter) => {
                layers.push(exporter.layer());
                Self {
                    exporter: Some(exporter),
                }
            }
            Err(error) => {
                warn(&format!("spans are not exported ({}): {error}", collector.variable));
                Self::default()
            }
        }
    }

    #[cfg(not(feature = "otel"))]
    fn with_exporter(_: &mut Vec<Box<dyn Layer<Registry> + Send + Sync>>, _: &Handle) -> Self {
        Self::default()
    }
}

#[cfg(feature = "otel")]
impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(Err(failure)) = self.exporter.as_ref().map(export::Exporter::shutdown) {
            warn(&failure.to_string());
        }
    }
}

/// Returns the log level from the option or the variable, or `None` if the log is off. That of a server has warnings by default.
fn log_level(option: Option<LogLevel>, form: LogForm) -> Result<Option<LogLevel>, Failure> {
    let level = match (option, variable(LOG)) {
        (Some(level), _) => level,
        (None, None) if form == LogForm::Short => return Ok(None),
        (None, None) => LogLevel::Warn,
        (None, Some(name)) => clap::ValueEnum::from_str(&name, true).map_err(|_| {
            Failure::usage(format!(
                "{LOG}: unknown log level; expected off, error, warn, info, debug or trace"
            ))
        })?,
    };
    Ok(Some(level).filter(|level| *level != LogLevel::Off))
}

/// Prints a warning.
fn warn(message: &str) {
    // If standard error cannot be written, nothing can be reported.
    let _ = writeln!(io::stderr(), "warning: {}", sanitized(message));
}
