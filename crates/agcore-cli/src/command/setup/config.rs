//! `agcore config`: shows every setting and its source.

use agcore_args::ReportArgs;
use agcore_settings::{Choices, Effect, FolderReport, Origin, Shown, vendor::redacted_url};
use agcore_telemetry::Collector;
use agcore_terminal::{
    process::variable,
    render::truncated,
    table::{table_width, table_within},
};
use serde_json::{Value, json};

use crate::{exit::Failure, stdout::print, telemetry::EXPORT_UNAVAILABLE, trust_dialog::print_notices};

/// The maximum width of a value, in columns. JSON output contains the whole value.
const MAX_VALUE: usize = 48;

/// A setting as it is displayed.
struct Row {
    name: &'static str,
    /// The value without secrets, or `None` if it is not set.
    value: Option<String>,
    /// The source of the value.
    origin: Option<Origin>,
}

/// Prints every setting. Unknown names are reported as warnings on standard error.
///
/// # Errors
/// When a source cannot be read or a setting is invalid.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let choices = Choices::read(&args.settings)?;
    let rows = rows(&choices);
    let unknown = &choices.unknown;
    let warnings: Vec<&str> = unknown
        .settings
        .iter()
        .chain(&unknown.variables)
        .chain(&choices.warnings)
        .chain(&choices.ignored_notice)
        .map(String::as_str)
        .chain(EXPORT_UNAVAILABLE.filter(|_| Collector::from_variables(variable).is_some()))
        .collect();
    if args.json {
        let settings: Vec<Value> = rows.iter().map(Row::as_json).collect();
        let report = json!({"settings": settings, "folder": folder(&choices.report), "warnings": warnings});
        return print(&format!("{report:#}\n"));
    }
    let rows: Vec<[String; 3]> = rows.iter().map(Row::cells).collect();
    let width = table_width();
    print(&format!(
        "{}\n{}",
        table_within(&rows, width),
        files(&choices.report, width)
    ))?;
    let warnings: Vec<String> = warnings.iter().map(|warning| format!("warning: {warning}")).collect();
    print_notices(&warnings)
}

fn rows(choices: &Choices) -> Vec<Row> {
    let row = |Shown {
                   name, value, origin, ..
               }: Shown| Row { name, value, origin };
    choices.shown().into_iter().map(row).chain([traces()]).collect()
}

/// Lists the files that were considered, and the settings that are ignored.
fn files(report: &FolderReport, width: usize) -> String {
    let path = report.folder.as_ref().map(|path| path.display().to_string());
    let mut rows = vec![["folder".to_owned(), path.unwrap_or_default(), report.trust.describe()]];
    let file = |(file, state): &(String, &str)| ["file".to_owned(), file.clone(), (*state).to_owned()];
    rows.extend(report.files.iter().map(file));
    let ignored = |effect: &Effect| {
        let value = effect
            .value
            .as_ref()
            .map(|value| format!(" = {value}"))
            .unwrap_or_default();
        let name = effect.name.as_ref()?;
        Some([
            "ignored".to_owned(),
            truncated(&format!("{name}{value}"), MAX_VALUE),
            format!("{}, disabled: folder not trusted", effect.file),
        ])
    };
    rows.extend(report.ignored.iter().filter_map(ignored));
    table_within(&rows, width)
}

/// Describes the folder as JSON.
fn folder(report: &FolderReport) -> Value {
    let file = |(path, state): &(String, &str)| json!({"path": path, "state": state});
    let ignored = |effect: &Effect| json!({"file": effect.file, "name": effect.name, "value": effect.value});
    json!({
        "path": report.folder.as_ref().map(|path| path.display().to_string()),
        "trusted": report.trust.is_given(),
        "trust": report.trust.describe(),
        "files": report.files.iter().map(file).collect::<Vec<_>>(),
        "ignored": report.ignored.iter().map(ignored).collect::<Vec<_>>(),
    })
}

/// Returns where spans are sent.
fn traces() -> Row {
    let collector = Collector::from_variables(variable);
    if EXPORT_UNAVAILABLE.is_some() {
        return Row {
            name: "traces",
            value: Some("not available: build with --features otel".to_owned()),
            origin: None,
        };
    }
    Row {
        name: "traces",
        value: collector.as_ref().map(|collector| redacted_url(&collector.url)),
        origin: collector.map(|collector| Origin::Environment(collector.variable.to_owned())),
    }
}

impl Row {
    fn cells(&self) -> [String; 3] {
        let value = self
            .value
            .as_deref()
            .map_or_else(|| "not set".to_owned(), |value| truncated(value, MAX_VALUE));
        let origin = self.origin.as_ref().map(ToString::to_string).unwrap_or_default();
        [self.name.to_owned(), value, origin]
    }

    fn as_json(&self) -> Value {
        json!({
            "name": self.name,
            "value": self.value,
            "source": self.origin.as_ref().map(Origin::kind),
            "where": self.origin.as_ref().and_then(Origin::place),
        })
    }
}
