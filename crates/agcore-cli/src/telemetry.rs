//! [`Telemetry`]: what agcore's crates tell of themselves, as a log and as spans for a collector.

mod collector;
mod log;
#[cfg(feature = "otel")]
mod client;
#[cfg(feature = "otel")]
mod export;

use std::io::{self, Write};

use tokio::runtime::Handle;
use tracing_subscriber::{Layer, Registry, layer::SubscriberExt, util::SubscriberInitExt};

pub(crate) use self::collector::Collector;

use crate::{args::LogLevel, environment::variable, exit::Failure, render::harmless};

/// The variable of the log's level.
pub(crate) const LOG: &str = "AGCORE_LOG";

/// How to get a program that exports spans; none in one that does.
pub(crate) const HOW_TO_EXPORT: Option<&str> = if cfg!(feature = "otel") {
    None
} else {
    Some("this program does not export spans; build it with `--features otel`")
};

/// Log and spans; when dropped, the last spans are sent.
#[derive(Debug, Default)]
#[must_use = "when this is dropped the last spans are sent"]
pub(crate) struct Telemetry {
    #[cfg(feature = "otel")]
    exporter: Option<export::Exporter>,
}

impl Telemetry {
    /// Begins to listen. Where nothing is wanted, nothing is done, and the spans cost nothing.
    ///
    /// # Errors
    /// A level of the log that is none.
    pub(crate) fn begin(level: Option<LogLevel>, is_shown: bool, runtime: &Handle) -> Result<Self, Failure> {
        let level = level_of(level)?;
        let mut layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = Vec::new();
        match level {
            Some(_) if is_shown => warn("the log is off, for this terminal shows the chat; `2> FILE` takes the log"),
            Some(level) => layers.push(log::layer(level)),
            None => {}
        }
        let telemetry = Self::exporting(&mut layers, runtime);
        if !layers.is_empty() {
            // Nobody else listens in this program.
            let _ = tracing_subscriber::registry().with(layers).try_init();
        }
        Ok(telemetry)
    }

    #[cfg(feature = "otel")]
    fn exporting(layers: &mut Vec<Box<dyn Layer<Registry> + Send + Sync>>, runtime: &Handle) -> Self {
        let Some(collector) = Collector::of(variable) else {
            return Self::default();
        };
        match export::Exporter::new(&collector, runtime.clone()) {
            Ok(exporter) => {
                layers.push(exporter.layer());
                Self {
                    exporter: Some(exporter),
                }
            }
            Err(why) => {
                warn(&format!("spans are not exported ({}): {why}", collector.variable));
                Self::default()
            }
        }
    }

    #[cfg(not(feature = "otel"))]
    fn exporting(_: &mut Vec<Box<dyn Layer<Registry> + Send + Sync>>, _: &Handle) -> Self {
        Self::default()
    }
}

#[cfg(feature = "otel")]
impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(Err(lost)) = self.exporter.as_ref().map(export::Exporter::end) {
            warn(&lost.to_string());
        }
    }
}

/// The level of the log: that of the option, else that of the variable; none when it is off.
fn level_of(option: Option<LogLevel>) -> Result<Option<LogLevel>, Failure> {
    let level = match (option, variable(LOG)) {
        (Some(level), _) => level,
        (None, None) => return Ok(None),
        (None, Some(name)) => clap::ValueEnum::from_str(&name, true).map_err(|_| {
            Failure::usage(format!(
                "{LOG}: the log's level is off, error, warn, info, debug or trace"
            ))
        })?,
    };
    Ok(Some(level).filter(|level| *level != LogLevel::Off))
}

/// Tells what is no reason to fail.
fn warn(what: &str) {
    // Where not even this can be written, nobody waits for it.
    let _ = writeln!(io::stderr(), "warning: {}", harmless(what));
}
