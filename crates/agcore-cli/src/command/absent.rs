//! The entry points of the commands that a build does not have: each fails with the sentence of its part.

/// `agcore acp`.
pub(crate) mod acp {
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use agcore_args::AcpArgs;

    use crate::exit::{Failure, missing::ACP};

    /// Fails.
    pub(crate) async fn run(_: AcpArgs, _: &Interrupts, _: Color) -> Result<(), Failure> {
        Err(Failure::missing(ACP, "agcore acp"))
    }
}

/// `agcore eval`.
pub(crate) mod eval {
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use agcore_args::EvalArgs;

    use crate::exit::{Failure, missing::EVAL};

    /// Fails.
    pub(crate) async fn run(_: &EvalArgs, _: &Interrupts, _: Color) -> Result<(), Failure> {
        Err(Failure::missing(EVAL, "agcore eval"))
    }
}

/// `agcore flow`, and `agcore run --flow`.
pub(crate) mod flow {
    use std::path::Path;

    use agcore_args::{ChatArgs, FlowCommand, FlowValues};
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use crate::{
        command::chat::Front,
        exit::{Failure, missing::FLOW},
        output::Output,
    };

    /// A run of a flow file.
    pub(crate) struct FlowRun<'a> {
        pub(crate) file: &'a Path,
        pub(crate) chat: &'a ChatArgs,
        pub(crate) values: &'a FlowValues,
    }

    /// Fails.
    pub(crate) async fn run(_: &FlowCommand, _: &Interrupts, _: Color, _: Option<&Output>) -> Result<(), Failure> {
        Err(Failure::missing(FLOW, "agcore flow"))
    }

    /// Fails.
    pub(in crate::command) async fn run_file(_: &FlowRun<'_>, _: &Front<'_>) -> Result<(), Failure> {
        Err(Failure::missing(FLOW, "agcore run --flow"))
    }
}

/// `agcore mcp`.
pub(crate) mod mcp {
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use agcore_args::McpCommand;

    use crate::exit::{Failure, missing::MCP};

    /// Fails.
    pub(crate) async fn run(_: &McpCommand, _: &Interrupts, _: Color) -> Result<(), Failure> {
        Err(Failure::missing(MCP, "agcore mcp"))
    }
}

/// `agcore serve`.
pub(crate) mod serve {
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use agcore_args::ServeArgs;

    use crate::exit::{Failure, missing::SERVE};

    /// Fails.
    pub(crate) async fn run(_: &ServeArgs, _: &Interrupts, _: Color) -> Result<(), Failure> {
        Err(Failure::missing(SERVE, "agcore serve"))
    }
}

/// `agcore admin`, `agcore knowledge`, `agcore memory`, `agcore quotas`, `agcore schedules`, `agcore store` and `agcore webhooks`.
pub(crate) mod stored {
    /// `agcore admin`.
    pub(crate) mod admin {
        use agcore_args::AdminCommand;

        use crate::exit::{Failure, missing::STORE};

        /// Fails.
        pub(crate) async fn run(_: &AdminCommand) -> Result<(), Failure> {
            Err(Failure::missing(STORE, "agcore admin"))
        }
    }

    /// `agcore knowledge`.
    pub(crate) mod knowledge {
        use agcore_args::KnowledgeCommand;

        use crate::exit::{Failure, missing::STORE};

        /// Fails.
        pub(crate) async fn run(_: &KnowledgeCommand) -> Result<(), Failure> {
            Err(Failure::missing(STORE, "agcore knowledge"))
        }
    }

    /// `agcore memory`.
    pub(crate) mod memory {
        use agcore_args::MemoryCommand;

        use crate::exit::{Failure, missing::STORE};

        /// Fails.
        pub(crate) async fn run(_: &MemoryCommand) -> Result<(), Failure> {
            Err(Failure::missing(STORE, "agcore memory"))
        }
    }

    /// `agcore quotas`.
    pub(crate) mod quotas {
        use agcore_args::QuotasCommand;

        use crate::exit::{Failure, missing::STORE};

        /// Fails.
        pub(crate) async fn run(_: &QuotasCommand) -> Result<(), Failure> {
            Err(Failure::missing(STORE, "agcore quotas"))
        }
    }

    /// `agcore schedules`.
    pub(crate) mod schedules {
        use agcore_args::SchedulesCommand;

        use crate::exit::{Failure, missing::STORE};

        /// Fails.
        pub(crate) async fn run(_: &SchedulesCommand) -> Result<(), Failure> {
            Err(Failure::missing(STORE, "agcore schedules"))
        }
    }

    /// `agcore webhooks`.
    pub(crate) mod webhooks {
        use agcore_args::WebhooksCommand;

        use crate::exit::{Failure, missing::STORE};

        /// Fails.
        pub(crate) async fn run(_: &WebhooksCommand) -> Result<(), Failure> {
            Err(Failure::missing(STORE, "agcore webhooks"))
        }
    }

    /// `agcore store`.
    pub(crate) mod store {
        use agcore_args::StoreCommand;

        use crate::exit::{Failure, missing::STORE};

        /// Fails.
        pub(crate) async fn run(_: &StoreCommand) -> Result<(), Failure> {
            Err(Failure::missing(STORE, "agcore store"))
        }
    }
}
