//! Typed output together with tools: other calls, limits, suspension, budgets.

use agcore_chat::{Answer, Question, QuestionKind, ToolChoice, ToolOutcome, validate_messages};
use agcore_cycle::{
    Budget, Budgets, CycleErrorKind, LlmCycle, Output, OutputMode, TurnInput, TurnOptions, TypedOptions, TypedOutcome,
    machine::{Limits, Machine, RoundLimit},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

use super::support::{MODES, OSLO, Weather, answer, model_for, oslo, question};
use crate::support::{FnExecutor, call, cycle, lines};

fn output() -> Output<Weather> {
    Output::new(TypedOptions::new())
}

fn names(provider: &ScriptedProvider, request: usize) -> Vec<String> {
    provider.requests()[request]
        .tools
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect()
}

#[tokio::test]
async fn the_model_may_call_other_tools_first() {
    for mode in MODES {
        let steps = [ScriptStep::calls([call("1", "look", "{}")]), answer(mode, OSLO)];
        let provider = model_for(mode, steps);
        let mut cycle = cycle(&provider);
        let options = TurnOptions::new().with_tools(FnExecutor::echo(&["look"]));
        let typed = cycle
            .turn(question())
            .with_options(options)
            .typed_as(output())
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(typed.value, oslo());
        validate_messages(cycle.messages()).unwrap();
        if mode == OutputMode::Tool {
            assert_eq!(names(&provider, 1), ["look", "final_answer"]);
            assert_eq!(provider.requests()[0].tool_choice, Some(ToolChoice::Required));
        } else {
            assert_eq!(names(&provider, 1), ["look"]);
            let has_format = provider.requests()[0].response_format.is_some();
            assert_eq!(
                has_format,
                mode == OutputMode::Native,
                "several vendors reject a response format next to tools"
            );
        }
    }
}

#[tokio::test]
async fn the_answering_tool_avoids_names_of_other_tools() {
    let provider = model_for(
        OutputMode::Tool,
        [ScriptStep::calls([call("1", "final_answer_2", OSLO)])],
    );
    let options = TurnOptions::new().with_tools(FnExecutor::echo(&["final_answer"]));
    let outcome = cycle(&provider)
        .turn(question())
        .with_options(options)
        .typed_as(output())
        .await
        .unwrap();
    assert_eq!(outcome.value(), Some(&oslo()));
    assert_eq!(names(&provider, 0), ["final_answer", "final_answer_2"]);
}

#[tokio::test]
async fn other_calls_run_only_if_the_answer_is_rejected() {
    let with_other_call = |text: &str| ScriptStep::calls([call("a", "look", "{}"), call("b", "final_answer", text)]);
    let provider = model_for(OutputMode::Tool, [with_other_call("{}"), with_other_call(OSLO)]);
    let mut cycle = cycle(&provider);
    let options = TurnOptions::new().with_tools(FnExecutor::new(&["look"], |_| ToolOutcome::done("seen")));
    let typed = cycle
        .turn(question())
        .with_options(options)
        .typed_as(output())
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!((typed.repairs, typed.report.rounds), (1, 2));
    let lines = lines(&cycle);
    assert_eq!(lines[2], "tool: seen");
    assert!(lines[3].contains("missing field `city`"), "{lines:?}");
    assert!(lines[5].contains("the answer was given in the same reply"), "{lines:?}");
    assert_eq!(lines[6], "tool: The answer was accepted.");
}

#[tokio::test]
async fn the_model_may_answer_after_the_last_round() {
    for at_limit in [RoundLimit::Fail, RoundLimit::WrapUp] {
        for mode in MODES {
            let steps = [
                ScriptStep::calls([call("1", "look", "{}")]),
                answer(mode, "{\"city\": 1}"),
                answer(mode, OSLO),
            ];
            let provider = model_for(mode, steps);
            let limits = Limits::new().with_max_tool_turns(1).with_round_limit(at_limit);
            let mut cycle = LlmCycle::from_machine(provider.clone(), ManualClock::jumping(), Machine::new(limits));
            let options = TurnOptions::new().with_tools(FnExecutor::echo(&["look"]));
            let typed = cycle
                .turn(question())
                .with_options(options)
                .typed_as(output())
                .await
                .unwrap()
                .finished()
                .unwrap();
            assert_eq!((typed.value, typed.repairs), (oslo(), 1), "{mode:?}");
            validate_messages(cycle.messages()).unwrap();
            if at_limit == RoundLimit::WrapUp {
                let expected: &[&str] = if mode == OutputMode::Tool {
                    &["final_answer"]
                } else {
                    // Offered, but not to be called.
                    &["look"]
                };
                assert_eq!(names(&provider, 1), expected);
                assert_eq!(names(&provider, 2), expected);
            }
        }
    }
}

#[tokio::test]
async fn a_typed_turn_is_suspended_saved_and_resumed() {
    for mode in MODES {
        let steps = [
            ScriptStep::calls([call("1", "look", "{}")]),
            answer(mode, "no"),
            answer(mode, OSLO),
        ];
        let provider = model_for(mode, steps);
        let tools = FnExecutor::new(&["look"], |work| match &work.resumed {
            None => ToolOutcome::ask(Question::new(
                work.call.id.as_str(),
                0,
                QuestionKind::Approval,
                "May I?",
            )),
            Some(_) => ToolOutcome::done("seen"),
        });
        let mut before = cycle(&provider);
        let options = TurnOptions::new().with_tools(tools.clone());
        let outcome = before
            .turn(question())
            .with_options(options.clone())
            .typed_as(output())
            .await
            .unwrap();
        let TypedOutcome::Suspended(questions) = outcome else {
            panic!("{outcome:?}")
        };
        let saved = serde_json::to_string(before.machine()).unwrap();

        let machine: Machine = serde_json::from_str(&saved).unwrap();
        let mut after = LlmCycle::from_machine(provider.clone(), ManualClock::jumping(), machine);
        let answers = vec![(questions[0].id.clone(), Answer::approve())];
        let error = after
            .resume(answers.clone())
            .with_options(options.clone())
            .await
            .unwrap_err();
        assert!(error.message().contains("`.typed::<T>()`"), "{error}");
        assert!(after.machine().is_open(), "nothing was lost");
        let outcome = after
            .turn(TurnInput::Resume(answers))
            .with_options(options)
            .typed_as(output())
            .await
            .unwrap();
        let typed = outcome.finished().unwrap();
        assert_eq!((typed.value, typed.mode, typed.repairs), (oslo(), mode, 1));
        validate_messages(after.messages()).unwrap();
    }
}

#[tokio::test]
async fn a_budget_bounds_repairs() {
    for mode in MODES {
        let provider = model_for(mode, (0..5).map(|_| answer(mode, "{}")));
        let mut cycle = cycle(&provider);
        cycle.settings_mut().budgets = Budgets::default().with_turn(Budget::default().with_model_calls(2));
        let options = TypedOptions::new().with_max_repairs(9);
        let error = super::support::run(&mut cycle, options).await.unwrap_err();
        assert_eq!(error.kind(), CycleErrorKind::LimitReached);
        assert_eq!(provider.requests().len(), 2);
    }
}

#[tokio::test]
async fn requests_keep_their_bytes_between_repairs() {
    for mode in MODES {
        let provider = model_for(mode, [answer(mode, "{}"), answer(mode, "{}"), answer(mode, OSLO)]);
        super::support::run_default(&provider).await.0.unwrap();
        let bodies: Vec<_> = provider
            .requests()
            .iter()
            .map(|request| serde_json::to_value(&**request).unwrap())
            .collect();
        for two in bodies.windows(2) {
            let (before, after) = (two[0].as_object().unwrap(), two[1].as_object().unwrap());
            for (name, value) in before.iter().filter(|(name, _)| *name != "messages") {
                assert_eq!(
                    serde_json::to_string(&after[name]).unwrap(),
                    serde_json::to_string(value).unwrap()
                );
            }
            let messages = before["messages"].as_array().unwrap();
            assert!(after["messages"].as_array().unwrap().starts_with(messages));
        }
    }
}
