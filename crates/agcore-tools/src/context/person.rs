//! Waiting for people, inside of a call.

use super::{ToolContext, pause::PauseGuard};

impl ToolContext {
    /// Awaits a future that depends on a person, such as an answer to a form. The time counts towards neither the timeout nor
    /// the duration of the call.
    ///
    /// Cancel safe if `wait` is.
    pub async fn wait_for_person<F: Future>(&self, wait: F) -> F::Output {
        let Some(call) = &self.call else {
            return wait.await;
        };
        let clock = self.clock();
        call.pause.begin(clock.monotonic());
        let _guard = PauseGuard::new(&call.pause, clock);
        self.report_wait(wait).await
    }

    /// Awaits a future that depends on a person, and reports that the call waits unless it is ready at once. The time is not
    /// measured.
    pub(crate) async fn report_wait<F: Future>(&self, wait: F) -> F::Output {
        let Some(call) = &self.call else {
            return wait.await;
        };
        let observer = call.observer.as_deref();
        call.waits.observe(observer, &call.id, wait).await
    }
}
