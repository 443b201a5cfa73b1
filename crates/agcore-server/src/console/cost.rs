//! The page of what was spent.

use std::sync::Arc;

use agcore_console::{CostView, ModelRow, cost_page};
use axum::{Extension, extract::State, response::Response};
use http::{StatusCode, Uri};
use serde::Deserialize;

use super::{
    convert,
    reply::{page, page_with},
    runs::answer,
    visitor::Visitor,
};
use crate::{
    reports::{CostRange, CostReport},
    routes::parameters,
    service::App,
};

#[derive(Debug, Default, Deserialize)]
struct CostQuery {
    since: Option<String>,
    until: Option<String>,
}

/// `GET /console/cost`: what was spent in a time.
pub(super) async fn show(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>, uri: Uri) -> Response {
    let shown = async {
        let CostQuery { since, until } = parameters(&uri)?;
        let given = |day: Option<String>| day.filter(|day| !day.is_empty());
        let (since, until) = (given(since), given(until));
        let shell = visitor.shell(&app).await?;
        let range = match CostRange::read(since.as_deref(), until.as_deref(), app.service.clock.now().into()) {
            Ok(range) => range,
            Err(problem) => {
                let view = CostView {
                    since: since.unwrap_or_default(),
                    until: until.unwrap_or_default(),
                    error: Some(problem.detail().to_owned()),
                    ..CostView::default()
                };
                return Ok(page_with(StatusCode::BAD_REQUEST, cost_page(&shell, &view)));
            }
        };
        let report = app.service.own_costs(&visitor.actor, range).await?;
        Ok(page(cost_page(&shell, &view(report))))
    };
    answer(&app, &visitor, shown.await).await
}

fn view(report: CostReport) -> CostView {
    let (since, until) = report.range.days();
    let models = report.models.into_iter().map(|((provider, model), costs)| ModelRow {
        provider,
        model,
        price_versions: costs.price_versions.into_iter().collect(),
        usage: convert::usage(&costs.totals),
    });
    let days = report
        .days
        .into_iter()
        .map(|(day, totals)| (day, convert::usage(&totals)));
    let agents = report
        .agents
        .into_iter()
        .map(|(agent, totals)| (agent, convert::usage(&totals)));
    CostView {
        since,
        until,
        total: convert::usage(&report.total),
        days: days.collect(),
        models: models.collect(),
        agents: agents.collect(),
        is_cut: report.is_cut,
        error: None,
    }
}
