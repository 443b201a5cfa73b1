//! [`EditorHost`]: the sessions of the program for an editor.

use std::{
    env,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore::session::{Hold, Session, SessionError, stream_of};
use agcore_acp::{
    AcpError, AcpErrorKind, Editor, EditorApprover, Host, HostedSession, ListedSession, OpenRequest, Program,
    SessionPage, WiderGrant, plan_tool,
};
use agcore_args::ChatArgs;
use agcore_settings::Settings;
use agcore_terminal::{interrupt::Interrupts, render::Color};
use agcore_workbench::{
    People, Surface, Workbench,
    grants::prefix_grant,
    policy::mode_switch::ModeSwitch,
    program_tools::{Previews, ToolFolder},
};
use async_trait::async_trait;

use super::{
    failure::{SIGN_IN, failed},
    files::EditorFiles,
    hosted::{EditorSession, Parts, view},
    mcp_servers,
};

use crate::{
    command::chat::{
        last_model::continued,
        session::{ChatSessions, agent_of},
    },
    exit::{Failure, setup_failure},
    sessions::{Extent, Sessions, folder_of},
    trust_dialog, workbench,
};

/// The number of sessions on a page of the list.
const PAGE: usize = 50;

/// The sessions of the program for an editor.
pub(super) struct EditorHost {
    args: ChatArgs,
    sessions: Sessions,
    interrupts: Interrupts,
    color: Color,
    /// The folder in which the process works.
    folder: Mutex<Option<PathBuf>>,
    /// The number of open sessions.
    open: Arc<AtomicUsize>,
}

impl EditorHost {
    pub(super) fn new(args: ChatArgs, sessions: Sessions, interrupts: Interrupts, color: Color) -> Self {
        Self {
            args,
            sessions,
            interrupts,
            color,
            folder: Mutex::default(),
            open: Arc::default(),
        }
    }

    /// Makes a folder the current directory. Settings, trust, tools and MCP servers all belong to it, so all open sessions have the
    /// same one.
    #[expect(
        clippy::disallowed_methods,
        reason = "the folder of a session is not known before the editor names it"
    )]
    fn enter(&self, folder: &Path) -> Result<(), AcpError> {
        let invalid = |reason: String| AcpError::new(AcpErrorKind::InvalidInput, reason);
        let shown = folder.display();
        let real = folder.canonicalize();
        let real = real.map_err(|error| invalid(format!("the folder {shown} cannot be used: {error}")))?;
        let mut current = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Some(current) if *current == real => return Ok(()),
            Some(current) if self.open.load(Ordering::SeqCst) > 0 => {
                return Err(invalid(format!(
                    "this process works in {}; close its sessions first, or start another `agcore acp` for {shown}",
                    current.display()
                )));
            }
            _ => {}
        }
        env::set_current_dir(&real).map_err(|error| invalid(format!("the folder {shown} cannot be used: {error}")))?;
        *current = Some(real);
        Ok(())
    }

    async fn settings(&self) -> Result<Settings, Failure> {
        let settings = trust_dialog::settings(&self.args.settings, false, &self.interrupts, self.color).await?;
        Ok(self.args.applied_to(settings)?)
    }

    async fn start(
        &self,
        selected: Option<&Session>,
        request: OpenRequest,
        editor: Editor,
    ) -> Result<Box<dyn HostedSession>, Failure> {
        let mut settings = self.settings().await?;
        let mut notices = settings.context_files.warnings();
        notices.extend(mcp_servers::add(&mut settings, request.mcp_servers));
        // Without a receiver, the questions of MCP servers are declined.
        let (workbench, _) = workbench::open_for_user(&settings, !self.args.no_tools).await?;
        notices.extend(workbench.warnings.iter().cloned());
        let started = match trust_dialog::print_notices(&notices) {
            Ok(()) => self.start_with(selected, &settings, &workbench, editor).await,
            Err(failure) => Err(failure),
        };
        match started {
            Ok(parts) => {
                self.open.fetch_add(1, Ordering::SeqCst);
                let open = Arc::clone(&self.open);
                Ok(Box::new(
                    EditorSession::new(parts, settings, workbench, notices, open).await,
                ))
            }
            Err(failure) => {
                workbench.servers.close().await;
                Err(failure)
            }
        }
    }

    async fn start_with(
        &self,
        selected: Option<&Session>,
        settings: &Settings,
        workbench: &Workbench,
        editor: Editor,
    ) -> Result<Parts, Failure> {
        if !self.args.no_tools {
            let added = workbench.registry.register(plan_tool());
            added.map_err(|error| Failure::task(error.to_string()))?;
        }
        let folder = ToolFolder::of_settings(&settings.tools)?.with_open_files(EditorFiles(editor.clone()));
        let mode = self.args.permission_mode();
        let modes = ModeSwitch::new(&workbench.registry, &settings.tools, (mode, mode))?;
        let people = People {
            policy: modes.session_policy(approver(editor, workbench, &folder)),
            audit: None,
            mode: modes.current().clone(),
            folder: folder.clone(),
        };
        let sessions = self.sessions.clone();
        let chats = ChatSessions::new(&self.args, settings, workbench, sessions, Surface::Editor(people))?;
        let agent = agent_of(&self.args, settings, workbench)?;
        let agent = continued(agent, (&self.args, settings), &chats.sessions, selected).await?;
        let session = chats.start(selected, false, &agent).await?;
        Ok(Parts {
            session,
            chats,
            agent,
            modes,
            folder,
        })
    }
}

/// Returns what asks about calls in the editor.
fn approver(editor: Editor, workbench: &Workbench, folder: &ToolFolder) -> EditorApprover {
    let (previews, tools, root) = (
        Previews::new(folder),
        workbench.registry.clone(),
        folder.path().to_owned(),
    );
    let asked = EditorApprover::new(editor, move |request| {
        let edit = previews.edit_for(request);
        view(&request.tool, &tools, request.arguments.as_value(), &root, edit)
    });
    asked.with_wider(|request| {
        let (grant, covers) = prefix_grant(request)?;
        let covers = format!("commands that begin with {covers}");
        Some(WiderGrant { grant, covers })
    })
}

#[async_trait]
impl Host for EditorHost {
    fn program(&self) -> Program {
        Program::new("agcore", env!("CARGO_PKG_VERSION")).with_sign_in(SIGN_IN)
    }

    async fn create(&self, request: OpenRequest, editor: Editor) -> Result<Box<dyn HostedSession>, AcpError> {
        self.enter(&request.folder)?;
        Box::pin(self.start(None, request, editor)).await.map_err(failed)
    }

    async fn open(&self, id: &str, request: OpenRequest, editor: Editor) -> Result<Box<dyn HostedSession>, AcpError> {
        let found = self.sessions.exact(id).await.map_err(failed)?;
        let session = found.ok_or_else(|| AcpError::new(AcpErrorKind::NotFound, "there is no session with this id"))?;
        self.enter(&request.folder)?;
        Box::pin(self.start(Some(&session), request, editor))
            .await
            .map_err(failed)
    }

    async fn list(&self, folder: Option<&Path>, cursor: Option<&str>) -> Result<SessionPage, AcpError> {
        let start: usize = match cursor.map(str::parse) {
            None => 0,
            Some(Ok(start)) => start,
            Some(Err(_)) => {
                return Err(AcpError::new(
                    AcpErrorKind::InvalidInput,
                    "the cursor is not one of this list",
                ));
            }
        };
        let folder = folder.map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        let folder = folder.map(|folder| folder.display().to_string());
        let limit = start.saturating_add(PAGE + 1);
        let all = self
            .sessions
            .list(folder.as_deref(), Extent::Started, limit)
            .await
            .map_err(failed)?;
        let next = (all.len() > start.saturating_add(PAGE)).then(|| (start + PAGE).to_string());
        let page = all.into_iter().skip(start).take(PAGE);
        Ok(SessionPage::new(page.map(|session| listed(&session)).collect(), next))
    }

    async fn delete(&self, id: &str) -> Result<(), AcpError> {
        match self.sessions.exact(id).await.map_err(failed)? {
            Some(session) => {
                let name = stream_of(session.tenant(), &session.id);
                let _hold: Hold = self.sessions.store().hold(&name).await.map_err(held)?;
                self.sessions.erase(&session).await.map_err(failed)
            }
            None => Ok(()),
        }
    }

    async fn check_sign_in(&self) -> Result<(), AcpError> {
        let settings = self.settings().await.map_err(failed)?;
        let built = settings.provider.build().map(drop);
        built.map_err(|error| failed(setup_failure(settings.report(), error)))
    }
}

/// Returns the error of a session that cannot be held.
fn held(error: SessionError) -> AcpError {
    match error.holder() {
        Some(holder) => AcpError::new(
            AcpErrorKind::Busy,
            format!("this session is in use by {holder}; delete it when it is free"),
        ),
        None => failed(error.into()),
    }
}

fn listed(session: &Session) -> ListedSession {
    let folder = folder_of(session).unwrap_or("/");
    ListedSession::new(session.id.as_str(), folder, session.updated_at.to_text_in_seconds())
        .with_title(session.title.clone())
}
