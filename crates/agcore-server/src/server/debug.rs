//! Debug output of servers: the names of their agents.

use std::fmt;

use super::{Server, ServerBuilder};

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents: Vec<_> = self.app.service.agents.iter().map(|agent| &agent.name).collect();
        f.debug_struct("Server")
            .field("agents", &agents)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents: Vec<_> = self.agents.iter().map(|agent| &agent.name).collect();
        f.debug_struct("ServerBuilder")
            .field("agents", &agents)
            .finish_non_exhaustive()
    }
}
