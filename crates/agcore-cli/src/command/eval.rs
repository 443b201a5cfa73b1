//! `agcore eval`: runs the cases of a file, and compares two reports.

mod diff;
mod target;
mod view;

use std::{fs, path::Path};

use agcore::eval::{Evaluation, Format, Judge, Report, Suite};
use agcore_args::{EvalArgs, EvalCommand, SuiteArgs};
use agcore_settings::{Settings, atomic_file};
use agcore_terminal::{interrupt::Interrupts, render::Color};
use agcore_workbench::Workbench;
use tokio_util::sync::CancellationToken;

use self::{
    diff::diff,
    target::{needs_judge, needs_model, target},
    view::view,
};

use crate::{
    exit::{Failure, setup_failure},
    stdout::print,
    trust_dialog, workbench,
};

/// Runs an `eval` command.
///
/// # Errors
/// When a file cannot be read or written, the settings are invalid, a check fails, or a case has become worse.
pub(crate) async fn run(args: &EvalArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    match &args.command {
        Some(EvalCommand::Diff(args)) => diff(args),
        None => evaluate(&args.suite, interrupts, color).await,
    }
}

async fn evaluate(args: &SuiteArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let Some(file) = &args.file else {
        return Err(Failure::usage("the file with the cases is missing"));
    };
    let suite = suite(file, args.filter.as_deref())?;
    let settings = trust_dialog::settings(&args.settings, !args.json, interrupts, color).await?;
    let tools = workbench::open(&settings.tools, !args.no_tools).await?;
    let report = report(args, file, suite, &settings, &tools, interrupts).await;
    tools.servers.close().await;
    finish(args, &report?)
}

/// Reads the cases that were selected.
fn suite(file: &Path, filter: Option<&str>) -> Result<Suite, Failure> {
    let name = file.display().to_string();
    let format = Format::of_file(&name).ok_or_else(|| {
        Failure::usage(format!(
            "{name} is not a file of cases: its name must end in .toml, .yaml, .yml or .json"
        ))
    })?;
    let text = fs::read_to_string(file).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let suite = Suite::parse(&name, format, &text).map_err(|error| Failure::usage(error.to_string()))?;
    let Some(filter) = filter else { return Ok(suite) };
    let suite = suite.filtered(filter);
    match suite.cases.is_empty() {
        true => Err(Failure::usage(format!(
            "no case in {name} has {filter:?} in its name or as a tag"
        ))),
        false => Ok(suite),
    }
}

/// Runs the cases. The first Ctrl-C cancels them, the second exits the program.
async fn report(
    args: &SuiteArgs,
    file: &Path,
    suite: Suite,
    settings: &Settings,
    tools: &Workbench,
    interrupts: &Interrupts,
) -> Result<Report, Failure> {
    let token = CancellationToken::new();
    let _guard = interrupts.cancel(&token);
    let mut target = target(args, file, settings, tools)?;
    if needs_model(&suite) {
        let model = settings.provider.build();
        target = target.with_model(model.map_err(|error| setup_failure(settings.report(), error))?);
    }
    let judge = needs_judge(&suite).then(|| judge(args, settings)).transpose()?;
    let mut evaluation = Evaluation::new(suite, target)
        .with_parallel(usize::from(args.parallel))
        .with_token(token.clone());
    if let Some(judge) = judge {
        evaluation = evaluation.with_judge(judge);
    }
    let report = evaluation.run().await;
    match token.is_cancelled() {
        true => Err(Failure::cancelled()),
        false => Ok(report),
    }
}

/// Returns the model that judges: that of the settings, unless another one was named.
fn judge(args: &SuiteArgs, settings: &Settings) -> Result<Judge, Failure> {
    let mut config = settings.provider.clone();
    if let Some(name) = &args.judge {
        config.model.clone_from(name);
    }
    let model = config
        .build()
        .map_err(|error| setup_failure(settings.report(), error))?;
    Ok(Judge::new(model))
}

/// Prints and writes the report.
fn finish(args: &SuiteArgs, report: &Report) -> Result<(), Failure> {
    let write = |path: &Path, text: &str| {
        let written = atomic_file::replace(path, text);
        written.map_err(|error| Failure::task(format!("cannot write {}: {error}", path.display())))
    };
    if let Some(path) = &args.output {
        write(path, &(report.to_json() + "\n"))?;
    }
    if let Some(path) = &args.junit {
        let xml = report.to_junit().map_err(|error| Failure::task(error.to_string()))?;
        write(path, &xml)?;
    }
    match args.json {
        true => print(&(report.to_json() + "\n"))?,
        false => print(&view(report))?,
    }
    match report.is_success() {
        true => Ok(()),
        false => Err(Failure::task(format!(
            "{} of {} runs failed",
            report.failed(),
            report.results.len()
        ))),
    }
}
