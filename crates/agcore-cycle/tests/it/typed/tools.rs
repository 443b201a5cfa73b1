//! Typed output together with tools: other calls first, limits, suspension, resumption, budgets.

use agcore_chat::{Answer, Question, QuestionKind, ToolChoice, ToolOutcome, validate_messages};
use agcore_cycle::{CycleErrorKind, 
    Budget, Budgets, LlmCycle, Output, OutputMode, TurnInput, TurnOptions, TypedOptions, TypedOutcome,
    machine::{Limits, Machine, RoundLimit},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

use super::support::{MODES, OSLO, Weather, answer, ask, model_for, oslo};
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
async fn other_tools_may_be_called_first() {
    for mode in MODES {
        let steps = [ScriptStep::calls([call("1", "look", "{}")]), answer(mode, OSLO)];
        let provider = model_for(mode, steps);
        let mut cycle = cycle(&provider);
        let options = TurnOptions::new().with_tools(FnExecutor::echo(&["look"]));
        let typed = cycle
            .turn(ask()).with_options(options).typed_as(output())
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
            let has_form = provider.requests()[0].response_format.is_some();
            assert_eq!(
                has_form,
                mode == OutputMode::Native,
                "next to tools, several vendors take none"
            );
        }
    }
}

#[tokio::test]
async fn the_answering_tool_gives_way_to_a_tool_of_its_name() {
    let provider = model_for(
        OutputMode::Tool,
        [ScriptStep::calls([call("1", "final_answer_2", OSLO)])],
    );
    let options = TurnOptions::new().with_tools(FnExecutor::echo(&["final_answer"]));
    let outcome = cycle(&provider).turn(ask()).with_options(options).typed_as(output()).await.unwrap();
    assert_eq!(outcome.value(), Some(&oslo()));
    assert_eq!(names(&provider, 0), ["final_answer", "final_answer_2"]);
}

#[tokio::test]
async fn calls_beside_an_answer_run_only_when_it_is_bad() {
    let beside = |text: &str| ScriptStep::calls([call("a", "look", "{}"), call("b", "final_answer", text)]);
    let provider = model_for(OutputMode::Tool, [beside("{}"), beside(OSLO)]);
    let mut cycle = cycle(&provider);
    let options = TurnOptions::new().with_tools(FnExecutor::new(&["look"], |_| ToolOutcome::done("seen")));
    let typed = cycle
        .turn(ask()).with_options(options).typed_as(output())
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
async fn the_last_round_is_left_for_the_answer() {
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
                .turn(ask()).with_options(options).typed_as(output())
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
                    &[]
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
            None => ToolOutcome::Ask(Question::new(
                work.call.id.as_str(),
                0,
                QuestionKind::Approval,
                "May I?",
            )),
            Some(_) => ToolOutcome::done("seen"),
        });
        let mut before = cycle(&provider);
        let options = TurnOptions::new().with_tools(tools.clone());
        let outcome = before.turn(ask()).with_options(options.clone()).typed_as(output()).await.unwrap();
        let TypedOutcome::Suspended(questions) = outcome else {
            panic!("{outcome:?}")
        };
        let saved = serde_json::to_string(before.machine()).unwrap();

        let machine: Machine = serde_json::from_str(&saved).unwrap();
        let mut after = LlmCycle::from_machine(provider.clone(), ManualClock::jumping(), machine);
        let answers = vec![(questions[0].id.clone(), Answer::approve())];
        let error = after.resume(answers.clone()).with_options(options.clone()).await.unwrap_err();
        assert!(error.message().contains("`.typed::<T>()`"), "{error}");
        assert!(after.machine().is_open(), "nothing was lost");
        let outcome = after
            .turn(TurnInput::Resume(answers)).with_options(options).typed_as(output())
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
        super::support::played(&provider).await.0.unwrap();
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
