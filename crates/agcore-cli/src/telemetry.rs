//! [`Telemetry`]: the log, the metrics, and the exporters of spans and metrics.

#[cfg(feature = "otel")]
use std::thread;
use std::{
    io::{self, Write},
    sync::Arc,
};

use agcore::llm::SystemClock;
use agcore_args::LogLevel;
use agcore_settings::LOG;
#[cfg(feature = "otel")]
use agcore_settings::vendor::redacted_url;
#[cfg(feature = "otel")]
use agcore_telemetry::{Collector, ExportError, Exporter, MetricsExporter, Service};
use agcore_telemetry::{Histograms, LogForm, LogLayer, MetricsLayer};
use agcore_terminal::{process::variable, render::sanitized};
use tokio::runtime::Handle;
use tracing_subscriber::{Layer, Registry, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt};

use crate::exit::Failure;

/// The default service name.
#[cfg(feature = "otel")]
const SERVICE: &str = "agcore";

/// The reason that this build cannot export spans, or `None` if it can.
pub(crate) const EXPORT_UNAVAILABLE: Option<&str> = if cfg!(feature = "otel") {
    None
} else {
    Some("this build cannot export spans; rebuild it with `--features otel`")
};

type Layers = Vec<Box<dyn Layer<Registry> + Send + Sync>>;

/// Parts of a command that matter for its log and metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// Whether it uses the terminal for a conversation, which a log would disturb.
    pub(crate) conversation: bool,
    /// Whether it shows metrics.
    pub(crate) metrics: bool,
}

/// Installed logging and tracing. Sends the remaining spans and metrics when dropped.
#[derive(Debug, Default)]
#[must_use = "the remaining spans are sent when this is dropped"]
pub(crate) struct Telemetry {
    /// The exporter of spans, and the collector.
    #[cfg(feature = "otel")]
    exporter: Option<(Exporter, Collector)>,
    /// The same of metrics.
    #[cfg(feature = "otel")]
    metrics: Option<(MetricsExporter, Collector)>,
}

impl Telemetry {
    /// Installs the log and the exporter that are enabled. If there are none, spans are disabled and cost nothing.
    ///
    /// # Errors
    /// When the log level is invalid.
    pub(crate) fn install(
        (level, form): (Option<LogLevel>, LogForm),
        shown: Shown,
        runtime: &Handle,
    ) -> Result<Self, Failure> {
        let level = log_level(level, form)?;
        let mut layers = Layers::new();
        match level {
            Some(_) if shown.conversation => {
                warn("the log is off because the chat uses this terminal; redirect it with `2> FILE`");
            }
            Some(level) => layers.push(log(level, form).layer()),
            None => {}
        }
        let metrics = MetricsLayer::new(Arc::new(SystemClock::new()));
        let metrics = match shown.metrics {
            true => metrics.with_histograms(Arc::new(Histograms::new())),
            false => metrics,
        };
        let telemetry = Self::with_exporters(&mut layers, metrics, shown.metrics, runtime);
        if !layers.is_empty() {
            // Nothing else in this program installs a subscriber.
            let _ = tracing_subscriber::registry().with(layers).try_init();
        }
        Ok(telemetry)
    }

    /// Adds the layers of the exporters that are configured, and that of the metrics if anything receives them.
    #[cfg(feature = "otel")]
    fn with_exporters(layers: &mut Layers, mut metrics: MetricsLayer, is_server: bool, runtime: &Handle) -> Self {
        let (mut telemetry, mut failed) = (Self::default(), None);
        if let Some(collector) = Collector::from_variables(variable) {
            match Exporter::new(&collector, &service(), runtime.clone()) {
                Ok(exporter) => {
                    layers.push(exporter.layer());
                    telemetry.exporter = Some((exporter, collector));
                }
                Err(error) => {
                    failed = Some(collector.variable);
                    warn(&format!("spans are not exported ({}): {error}", collector.variable));
                }
            }
        }
        if let Some(collector) = Collector::of_metrics(variable) {
            match MetricsExporter::new(&collector, &service(), runtime.clone()) {
                Ok(exporter) => {
                    metrics = metrics.with_sink(exporter.sink());
                    telemetry.metrics = Some((exporter, collector));
                }
                // The same variable has one problem, which was reported.
                Err(_) if failed == Some(collector.variable) => {}
                Err(error) => warn(&format!("metrics are not exported ({}): {error}", collector.variable)),
            }
        }
        if is_server || telemetry.metrics.is_some() {
            layers.push(metrics.layer());
        }
        telemetry
    }

    #[cfg(not(feature = "otel"))]
    fn with_exporters(layers: &mut Layers, metrics: MetricsLayer, is_server: bool, _: &Handle) -> Self {
        if is_server {
            layers.push(metrics.layer());
        }
        Self::default()
    }
}

#[cfg(feature = "otel")]
impl Drop for Telemetry {
    fn drop(&mut self) {
        let mut failed = None;
        let mut report = |kind: &str, result: Result<(), ExportError>, collector: &Collector| {
            let Err(error) = result else { return };
            // The same variable has one problem.
            if failed.replace(collector.variable) != Some(collector.variable) {
                let url = redacted_url(&collector.url);
                warn(&format!("{kind} were not exported to {url}: {error}"));
            }
        };
        // At the same time, so that the program waits for a collector that does not answer only once.
        thread::scope(|scope| {
            let metrics = self.metrics.as_ref().and_then(|(exporter, _)| {
                let ending = move || exporter.shutdown();
                thread::Builder::new().spawn_scoped(scope, ending).ok()
            });
            if let Some((exporter, collector)) = &self.exporter {
                report("spans", exporter.shutdown(), collector);
            }
            if let Some((exporter, collector)) = &self.metrics {
                let ended = metrics.and_then(|thread| thread.join().ok());
                report("metrics", ended.unwrap_or_else(|| exporter.shutdown()), collector);
            }
        });
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
