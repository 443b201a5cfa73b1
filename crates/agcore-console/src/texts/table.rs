//! [`Texts`]: the names of all texts.

macro_rules! texts {
    ($($name:ident,)+) => {
        /// The words of the pages in one language. `{n}` and the like are places for values.
        #[derive(Debug)]
        pub(crate) struct Texts {
            $(pub(crate) $name: &'static str,)+
        }

        impl Texts {
            /// Returns all texts with their names.
            #[cfg(test)]
            pub(super) fn all(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name),)+]
            }
        }
    };
}

texts! {
skip_to_content, chat, inbox, runs, settings, language, theme, theme_system, theme_light, theme_dark, sign_out,
signed_in_as, local_user, copy, copied, keys_help, keys_title, keys_move, keys_open, keys_search, keys_go,
keys_answer, keys_close, live, reconnecting, disconnected, ended,
login_title, login_intro, login_label, login_button, login_wrong, login_too_long, login_unavailable, login_command,
not_found_title, not_found_text, problem_title, problem_back, expired_title, expired_text, forbidden_title,
forbidden_text,
runs_title, runs_empty, runs_empty_next, runs_none_match, clear_filter, filter, any_status, any_agent, status, agent, model,
started, duration, tokens, cost, thread, run, title_untitled, next_page, first_page, cancel, cancel_run,
actions,
queued, running, waiting, completed, failed, cancelled,
tokens_in_out, tokens_cached, cost_unknown, cost_partly, calls_incomplete,
run_title, timeline, spans_of, spans_next, spans_previous, events_cut, inspector, inspector_empty, close, raw_events,
raw_events_more, event_whole, event_size, span_run, span_step, span_subagent, span_model, span_tool, span_question,
span_wait, span_note, time_begin, time_end, open_chat, result, arguments, note,
inbox_title, inbox_empty, inbox_empty_next, question_reason, question_waits, question_if_no,
question_if_no_tool, question_if_no_client, allow, deny, answer, decline, reason_label, reason_hint, answer_label, answer_json,
edit_arguments, edited_label, edit_hint, allow_edited, select, select_all, bulk_title, bulk_allow, bulk_deny, bulk_report,
bulk_allowed, bulk_denied, bulk_none,
schema, read_only, destructive, reaches_out, answered, answered_elsewhere, answer_refused, in_thread,
cost_title, cost_since, cost_until, cost_cut, cost_empty, cost_empty_next, cost_by_day, cost_by_model, cost_by_agent, day, calls,
calls_unpriced, calls_unknown, not_recorded, price_versions, agent_unknown,
chat_empty, chat_empty_next, new_chat, threads, send, send_hint, message_label, stop, older, you, assistant,
edit_message, edited_message, branch, branch_hint,
call_runs, call_done, call_failed, reasoning, chosen_agent, ask_first, run_failed, run_cancelled, run_details,
working,
operations, sign_in_admin, signed_in_admin, version, server_ready, server_state, server_not_ready, workers,
workers_empty, worker, worker_active, worker_draining, worker_drained, slots, slots_used, reported, worker_until,
all_tenants, leases, leases_empty, attempts, lease_until, drain, drain_hint, drain_asked, undrain, tenants, tenants_empty,
tenant, queue_waiting, queue_running, dead_letters, dead_letters_of, share, share_default, share_weight, share_ceiling,
weight, ceiling, share_hint, set, share_delete, quotas, quotas_empty, quotas_none, quota_scope, scope_tenant, scope_each,
window, window_minute, window_hour, window_day, window_month, limits, limit_runs, limit_calls, limit_money, amount_runs,
amount_calls, amount_tokens, used, held, resets, quota_usage, quota_none_apply, quota_set, one_user, quota_user, user, show,
delete, dead_empty, dead_title, last_worker, failed_at, accepted_at, line, start_again, start_again_hint, keep,
confirm_discard, confirm_discard_text, confirm_share, confirm_share_text, confirm_quota, confirm_quota_text,
schedules, schedule, schedules_empty, schedules_empty_next, timing, next_time, last_time, timing_every, timing_once, paused,
no_next_time, outcome_started, outcome_missed, outcome_overlap, outcome_refused, outcome_count, pause, resume, run_now,
webhooks, webhook, webhooks_empty, webhooks_empty_next, events, sends, last_message, messages, messages_empty, all_messages,
dead_messages, message_id, message_pending, message_delivered, message_failed, after_attempts, happened, last_answer,
replay, send_test, paused_requested, paused_gone, paused_failing, confirm_schedule, confirm_schedule_text, confirm_webhook,
confirm_webhook_text,
list_begin, list_next, }
