//! `agcore schedules`: runs that a server starts at certain times.

use std::{fs, time::Duration};

use agcore::{
    chat::{Actor, Clock, SystemClock},
    llm::system_random,
    schedule::{
        CatchUp, NewSchedule, Occurrence, Overlap, Schedule, ScheduleChange, ScheduleError, ScheduleErrorKind,
        ScheduleFilter, ScheduleStore, Timestamp, Timing,
    },
};
use agcore_args::{
    AddScheduleArgs, CatchUpPolicy, ListSchedulesArgs, OverlapPolicy, RunBudgetArgs, ScheduleArgs, SchedulesCommand,
    ShowScheduleArgs,
};
use agcore_terminal::{
    render::{sanitized_line, truncated},
    table::table,
};
use serde_json::{Map, Value, json};

use crate::{
    exit::Failure,
    sessions::{Sessions, time},
    stdout::print,
    trust_dialog::print_notices,
};

/// The maximum width of a title in the list.
const WIDTH: usize = 60;

/// The number of occurrences that are shown.
const SHOWN: u64 = 10;

/// The number of schedules that are read at once.
const PAGE: u64 = 500;

/// Runs `agcore schedules`.
///
/// # Errors
/// When the database cannot be used, or a schedule does not exist or is not acceptable.
pub(crate) async fn run(command: &SchedulesCommand) -> Result<(), Failure> {
    let sessions = Sessions::open().await?;
    let Some(schedules) = sessions.schedules() else {
        return Err(Failure::usage(
            "this build keeps no schedules; build agcore-cli with the feature `sqlite`",
        ));
    };
    match command {
        SchedulesCommand::Add(args) => add(&*schedules, args).await,
        SchedulesCommand::List(args) => list(&*schedules, args).await,
        SchedulesCommand::Show(args) => show(&*schedules, args).await,
        SchedulesCommand::Pause(args) => change(&*schedules, args, ScheduleChange::new().paused(), "Paused").await,
        SchedulesCommand::Resume(args) => change(&*schedules, args, ScheduleChange::new().resumed(), "Resumed").await,
        SchedulesCommand::Run(args) => run_now(&*schedules, args).await,
        SchedulesCommand::Delete(args) => {
            let schedule = find(&*schedules, args).await?;
            schedules.delete(&args.tenant, &schedule.id).await.map_err(failure)?;
            print(&format!("Deleted {}\n", sanitized_line(&schedule.id)))
        }
    }
}

async fn add(schedules: &dyn ScheduleStore, args: &AddScheduleArgs) -> Result<(), Failure> {
    let id = args.id.clone().unwrap_or_else(|| new_id("schedule"));
    let mut new = NewSchedule::new(id, timing(args)?, job(args)?)
        .with_owner(Actor::new(args.owner.tenant.as_str(), args.owner.user.as_str()))
        .with_catch_up(match args.catch_up {
            CatchUpPolicy::Skip => CatchUp::Skip,
            CatchUpPolicy::Once => CatchUp::Once,
            CatchUpPolicy::All(up_to) => CatchUp::All { up_to },
        })
        .with_overlap(match args.overlap {
            OverlapPolicy::Skip => Overlap::Skip,
            OverlapPolicy::Queue => Overlap::Queue,
            OverlapPolicy::Interrupt => Overlap::Interrupt,
        });
    new.title.clone_from(&args.title);
    new.is_paused = args.paused;
    let created = schedules.create(new).await.map_err(failure)?;
    print(&format!("{}\n", sanitized_line(&created.id)))?;
    let next = match created.next_at {
        Some(at) => format!("The first run starts at {}, if a server is running.", time(at)),
        None => "It is paused; `agcore schedules resume` starts it.".to_owned(),
    };
    print_notices(&[next])
}

fn timing(args: &AddScheduleArgs) -> Result<Timing, Failure> {
    if let Some(expression) = &args.cron {
        return Ok(Timing::cron_in(expression, args.zone.as_deref().unwrap_or("UTC")));
    }
    if let Some(seconds) = args.every {
        return Ok(Timing::every(Duration::from_secs(seconds)));
    }
    let text = args.at.as_deref().unwrap_or_default();
    let at: Result<Timestamp, _> = text.parse();
    at.map(Timing::At)
        .map_err(|error| Failure::usage(format!("--at: {error}; write a time such as 2026-12-24T18:00:00Z")))
}

/// Returns the input of the runs.
fn job(args: &AddScheduleArgs) -> Result<Value, Failure> {
    if let Some(file) = &args.input {
        let text = fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
        return serde_json::from_str(&text)
            .map_err(|error| Failure::usage(format!("{} is not JSON: {error}", file.display())));
    }
    let text = args.message.as_deref().unwrap_or_default();
    let mut job = json!({"messages": [{"id": "message", "role": "user", "content": text}]});
    if let Some(agent) = &args.agent {
        job["forwardedProps"]["agent"] = json!(agent);
    }
    if let Some(budget) = budget(&args.budget) {
        job["forwardedProps"]["budget"] = budget;
    }
    if let Some(thread) = &args.thread {
        job["threadId"] = json!(thread);
    }
    Ok(job)
}

/// Returns the most that each run may use, if that is limited.
fn budget(args: &RunBudgetArgs) -> Option<Value> {
    let money = args.money.as_ref().map(ToString::to_string);
    let members = [
        ("modelCalls", args.model_calls.map(Value::from)),
        ("tokens", args.tokens.map(Value::from)),
        ("money", money.map(Value::from)),
    ];
    let limits: Map<String, Value> = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
    (!limits.is_empty()).then_some(Value::Object(limits))
}

/// Returns the most that each run of a schedule may use, for people.
fn budget_text(schedule: &Schedule) -> String {
    let budget = &schedule.job["forwardedProps"]["budget"];
    let number = |name: &str, unit: &str| budget[name].as_u64().map(|number| format!("{number} {unit}"));
    let parts = [
        number("modelCalls", "model calls"),
        number("tokens", "tokens"),
        budget["money"].as_str().map(str::to_owned),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "none".to_owned(),
        false => format!("{} for each run", parts.join(", ")),
    }
}

async fn list(schedules: &dyn ScheduleStore, args: &ListSchedulesArgs) -> Result<(), Failure> {
    let mut filter = ScheduleFilter::new(args.tenant.as_str()).with_limit(PAGE);
    filter.user = args.user.as_deref().map(Into::into);
    let mut all: Vec<Schedule> = Vec::new();
    loop {
        let page = schedules.list(&filter).await.map_err(failure)?;
        let is_last = (page.len() as u64) < PAGE;
        filter.after = page.last().map(|schedule| schedule.id.clone());
        all.extend(page);
        if is_last {
            break;
        }
    }
    if args.json {
        return print(&format!("{:#}\n", json!({ "schedules": all })));
    }
    if all.is_empty() {
        return print_notices(&[
            "There are no schedules. `agcore schedules add --help` shows how to create one.".to_owned(),
        ]);
    }
    print(&table(&all.iter().map(row).collect::<Vec<_>>()))
}

/// Returns a row of the list: id, next time, timing, title or message.
fn row(schedule: &Schedule) -> [String; 4] {
    [
        sanitized_line(&schedule.id),
        next(schedule),
        sanitized_line(&timing_text(&schedule.timing)),
        truncated(&title(schedule), WIDTH),
    ]
}

fn next(schedule: &Schedule) -> String {
    match schedule.next_at {
        _ if schedule.is_paused => "paused".to_owned(),
        Some(at) => time(at),
        None => "over".to_owned(),
    }
}

fn title(schedule: &Schedule) -> String {
    let message = || schedule.job["messages"].as_array()?.last()?["content"].as_str();
    let title = schedule.title.as_deref().or_else(message);
    title.unwrap_or_default().to_owned()
}

fn timing_text(timing: &Timing) -> String {
    match timing {
        Timing::Cron { expression, zone } => format!("{expression} ({zone})"),
        Timing::Every { seconds, .. } => {
            let units = [(24 * 3600, "d"), (3600, "h"), (60, "m")];
            let unit = units.into_iter().find(|(length, _)| seconds.is_multiple_of(*length));
            let (length, unit) = unit.unwrap_or((1, "s"));
            format!("every {}{unit}", seconds / length)
        }
        Timing::At(at) => format!("at {}", time(*at)),
        _ => serde_json::to_string(timing).unwrap_or_default(),
    }
}

async fn show(schedules: &dyn ScheduleStore, args: &ShowScheduleArgs) -> Result<(), Failure> {
    let schedule = find(schedules, &args.schedule).await?;
    let found = schedules.occurrences(schedule.tenant(), &schedule.id, SHOWN);
    let occurrences = found.await.map_err(failure)?;
    if args.json {
        return print(&format!(
            "{:#}\n",
            json!({ "schedule": schedule, "occurrences": occurrences })
        ));
    }
    let policies = format!(
        "missed times: {}; while a run is not over: {}",
        policy(&json!(schedule.catch_up)),
        policy(&json!(schedule.overlap))
    );
    let mut rows = vec![
        ["schedule".to_owned(), sanitized_line(&schedule.id)],
        ["owner".to_owned(), sanitized_line(&schedule.owner.to_string())],
        ["title".to_owned(), sanitized_line(&title(&schedule))],
        ["times".to_owned(), sanitized_line(&timing_text(&schedule.timing))],
        ["policies".to_owned(), policies],
        ["budget".to_owned(), sanitized_line(&budget_text(&schedule))],
        ["next".to_owned(), next(&schedule)],
        ["input".to_owned(), sanitized_line(&schedule.job.to_string())],
    ];
    rows.extend(
        occurrences
            .iter()
            .map(|occurrence| [time(occurrence.at), outcome(occurrence)]),
    );
    print(&table(&rows))
}

fn policy(value: &Value) -> String {
    match value {
        Value::String(name) => name.clone(),
        other => format!("up to {} runs", other["all"]["up_to"]),
    }
}

fn outcome(occurrence: &Occurrence) -> String {
    let name = occurrence.outcome.as_str();
    match &occurrence.run {
        Some(run) => sanitized_line(&format!("{name}: run {} of thread {}", run.run, run.thread)),
        None if occurrence.count > 1 => format!("{name}: {} times", occurrence.count),
        None => name.to_owned(),
    }
}

async fn change(
    schedules: &dyn ScheduleStore,
    args: &ScheduleArgs,
    change: ScheduleChange,
    done: &str,
) -> Result<(), Failure> {
    let schedule = find(schedules, args).await?;
    let changed = schedules.change(&args.tenant, &schedule.id, schedule.revision, change);
    let changed = changed.await.map_err(failure)?;
    print(&format!("{done} {}\n", sanitized_line(&changed.id)))
}

/// Has a server start one run, by a schedule with a single time.
async fn run_now(schedules: &dyn ScheduleStore, args: &ScheduleArgs) -> Result<(), Failure> {
    let schedule = find(schedules, args).await?;
    // The clock of the database decides, and this machine may have another time.
    let now = schedules.due(None, 1).await.map_err(failure)?.now;
    let once = NewSchedule::new(
        new_id("once"),
        Timing::At(now.after(Duration::from_secs(2))),
        schedule.job.clone(),
    )
    .with_owner(schedule.owner.clone())
    .with_title(format!("One run of {}", schedule.id));
    let once = schedules.create(once).await.map_err(failure)?;
    print(&format!("{}\n", sanitized_line(&once.id)))?;
    print_notices(&["A server starts the run within a few seconds, if one is running.".to_owned()])
}

async fn find(schedules: &dyn ScheduleStore, args: &ScheduleArgs) -> Result<Schedule, Failure> {
    let found = schedules.get(&args.tenant, &args.id).await.map_err(failure)?;
    found.ok_or_else(|| {
        Failure::usage(format!(
            "there is no schedule `{}`\nRun `agcore schedules list` to see all schedules.",
            sanitized_line(&args.id)
        ))
    })
}

/// Returns a new id with a prefix.
fn new_id(prefix: &str) -> String {
    let now: Timestamp = SystemClock::new().now().into();
    let digits: String = format!("{:.8}", system_random()()).chars().skip(2).collect();
    format!("{prefix}-{:x}-{digits}", now.as_millis())
}

fn failure(error: ScheduleError) -> Failure {
    match error.kind() {
        ScheduleErrorKind::InvalidInput | ScheduleErrorKind::AlreadyExists => Failure::usage(error.to_string()),
        _ => Failure::task(error.to_string()),
    }
}
