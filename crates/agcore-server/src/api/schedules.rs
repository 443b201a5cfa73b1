//! The JSON forms of schedules.

use agcore_schedule::{CatchUp, Occurrence, Overlap, RunRef, Schedule, Timing};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::StartedView;

/// A schedule to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewScheduleBody {
    /// The title.
    pub(crate) title: Option<String>,
    /// When runs start.
    #[schemars(schema_with = "timing")]
    pub(crate) timing: Timing,
    /// The input of the runs, as for a run that is started at once, without `runId` and `resume`. Without `threadId`, each run has
    /// a new thread.
    #[schemars(schema_with = "input")]
    pub(crate) input: Value,
    /// The handling of times at which the server was not there: `skip`, `once`, which starts one run for all of them, or
    /// `{"all": {"up_to": 10}}`; by default `once`.
    #[schemars(schema_with = "catch_up")]
    #[serde(default)]
    pub(crate) catch_up: CatchUp,
    /// The handling of times at which the run before is not over: `skip`, `queue` or `interrupt`; by default `skip`.
    #[schemars(schema_with = "overlap")]
    #[serde(default)]
    pub(crate) overlap: Overlap,
    /// Whether the schedule starts no runs until it is resumed.
    #[serde(default)]
    pub(crate) paused: bool,
}

/// A change of a schedule. Members that are missing stay as they are.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ScheduleChangeBody {
    /// The revision that was read. If the schedule has another one, nothing is changed.
    pub(crate) revision: Option<u64>,
    /// The new title; an empty text removes it.
    pub(crate) title: Option<String>,
    /// When runs start.
    #[schemars(schema_with = "timing")]
    #[serde(default)]
    pub(crate) timing: Option<Timing>,
    /// The input of the runs.
    #[schemars(schema_with = "input")]
    #[serde(default)]
    pub(crate) input: Option<Value>,
    /// The handling of times at which the server was not there.
    #[schemars(schema_with = "catch_up")]
    #[serde(default)]
    pub(crate) catch_up: Option<CatchUp>,
    /// The handling of times at which the run before is not over.
    #[schemars(schema_with = "overlap")]
    #[serde(default)]
    pub(crate) overlap: Option<Overlap>,
    /// `true` pauses the schedule, `false` resumes it at its next time.
    pub(crate) paused: Option<bool>,
}

/// A schedule: when runs start, and with which input.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduleView {
    /// The id of the schedule.
    pub(crate) schedule_id: String,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// When runs start.
    #[schemars(schema_with = "timing")]
    pub(crate) timing: Timing,
    /// The input of the runs.
    #[schemars(schema_with = "input")]
    pub(crate) input: Value,
    /// The handling of times at which the server was not there.
    #[schemars(schema_with = "catch_up")]
    pub(crate) catch_up: CatchUp,
    /// The handling of times at which the run before is not over.
    #[schemars(schema_with = "overlap")]
    pub(crate) overlap: Overlap,
    /// Whether the schedule starts no runs until it is resumed.
    pub(crate) paused: bool,
    /// The next time, as an RFC 3339 time; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_at: Option<String>,
    /// The result of the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<OccurrenceView>,
    /// A number that grows with each change, and with each run.
    pub(crate) revision: u64,
    /// When the schedule was created.
    pub(crate) created_at: String,
    /// When it was changed last.
    pub(crate) updated_at: String,
}

/// The result of a time of a schedule.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OccurrenceView {
    /// The time.
    pub(crate) at: String,
    /// `started`; or why no run was started: `missed`, because the server was not there; `overlap`, because the run before was not
    /// over; or `refused`, because a run with this input is not possible any more.
    pub(crate) outcome: &'static str,
    /// The run that was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<StartedView>,
    /// How many times this stands for: those before it that were skipped for the same reason are counted only.
    pub(crate) count: u64,
}

/// A page of schedules.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SchedulePage {
    /// The schedules, in the order of their ids.
    pub(crate) schedules: Vec<ScheduleView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// The results of the times of a schedule.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OccurrenceList {
    /// The last ones, newest first.
    pub(crate) occurrences: Vec<OccurrenceView>,
}

impl From<&Schedule> for ScheduleView {
    fn from(schedule: &Schedule) -> Self {
        Self {
            schedule_id: schedule.id.clone(),
            title: schedule.title.clone(),
            timing: schedule.timing.clone(),
            input: schedule.job.clone(),
            catch_up: schedule.catch_up,
            overlap: schedule.overlap,
            paused: schedule.is_paused,
            next_at: schedule.next_at.map(|at| at.to_string()),
            last: schedule.last.clone().map(OccurrenceView::from),
            revision: schedule.revision,
            created_at: schedule.created_at.to_string(),
            updated_at: schedule.updated_at.to_string(),
        }
    }
}

impl From<Occurrence> for OccurrenceView {
    fn from(occurrence: Occurrence) -> Self {
        Self {
            at: occurrence.at.to_string(),
            outcome: occurrence.outcome.as_str(),
            run: occurrence.run.map(|RunRef { thread, run, .. }| StartedView {
                thread_id: thread,
                run_id: run,
            }),
            count: occurrence.count,
        }
    }
}

/// Returns the schema of a timing.
pub(super) fn timing(_: &mut SchemaGenerator) -> Schema {
    let time = || json!({"type": "string", "format": "date-time"});
    json_schema!({"oneOf": [
        {
            "type": "object",
            "description": "At the times of a cron expression with five fields, in a time zone; by default UTC.",
            "required": ["cron"],
            "properties": {
                "cron": {"type": "string", "examples": ["0 9 * * 1-5"]},
                "zone": {"type": "string", "examples": ["Europe/Berlin"]},
            },
            "additionalProperties": false,
        },
        {
            "type": "object",
            "description": "At intervals in seconds, counted from a time; by default from now.",
            "required": ["every"],
            "properties": {
                "every": {"type": "integer", "minimum": 60, "maximum": 31_622_400},
                "from": time(),
            },
            "additionalProperties": false,
        },
        {
            "type": "object",
            "description": "Once.",
            "required": ["at"],
            "properties": {"at": time()},
            "additionalProperties": false,
        },
    ]})
}

fn input(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "required": ["messages"]})
}

fn catch_up(_: &mut SchemaGenerator) -> Schema {
    let count = json!({"type": "integer", "minimum": 1, "maximum": 100});
    let all = json!({
        "type": "object",
        "required": ["up_to"],
        "properties": {"up_to": count},
    });
    json_schema!({"oneOf": [
        {"enum": ["skip", "once"]},
        {"type": "object", "required": ["all"], "properties": {"all": all}, "additionalProperties": false},
    ]})
}

fn overlap(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": ["skip", "queue", "interrupt"]})
}
