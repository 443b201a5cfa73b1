//! [`Telemetry`]: the log and the span exporter.

use std::{
    io::{self, Write},
    sync::Arc,
};

use agcore::llm::SystemClock;
use agcore_settings::LOG;
#[cfg(feature = "otel")]
use agcore_settings::vendor::redacted_url;
#[cfg(feature = "otel")]
use agcore_telemetry::{Collector, Exporter, Service};
use agcore_telemetry::{LogForm, LogLayer};
use agcore_terminal::{process::variable, render::sanitized};
use tokio::runtime::Handle;
use tracing_subscriber::{Layer, Registry, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{args::LogLevel, exit::Failure};

/// The default service name.
#[cfg(feature = "otel")]
const SERVICE: &str = "agcore";

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
    /// The exporter, and the collector's URL without secrets.
    #[cfg(feature = "otel")]
    exporter: Option<(Exporter, String)>,
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
            Some(level) => layers.push(log(level, form).layer()),
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
        match Exporter::new(&collector, &service(), runtime.clone()) {
            Ok(exporter) => {
                layers.push(exporter.layer());
                Self {
                    exporter: Some((exporter, redacted_url(&collector.url))),
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
        if let Some((exporter, url)) = &self.exporter
            && let Err(error) = exporter.shutdown()
        {
            warn(&format!("spans were not exported to {url}: {error}"));
        }
    }
}

#[cfg(feature = "otel")]
fn service() -> Service {
    let service = Service::new(env!("CARGO_PKG_VERSION"));
    match variable("OTEL_SERVICE_NAME") {
        Some(_) => service,
        None => service.with_name(SERVICE),
    }
}

/// Returns the log, on standard error.
fn log(level: LogLevel, form: LogForm) -> LogLayer {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    LogLayer::new(level, form, Arc::new(SystemClock::new()), |lines| {
        // If standard error cannot be written, nothing can be reported.
        let _ = io::stderr().write_all(lines.as_bytes());
    })
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
