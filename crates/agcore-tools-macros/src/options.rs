//! [`Options`]: the options in `#[tool(…)]`.

mod permission;
mod timeout;

use syn::{
    Error, Expr, ExprLit, Ident, Lit, LitBool, LitStr, Path, Result, Token, Type,
    ext::IdentExt,
    parenthesized,
    parse::{Parse as _, ParseStream},
    parse_quote,
    punctuated::Punctuated,
};

pub(crate) use self::permission::Permission;

/// The options in `#[tool(…)]`.
pub(crate) struct Options {
    /// The path of agcore-tools.
    pub(crate) tools: Path,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    /// The type from which the output schema is derived.
    pub(crate) output: Option<Type>,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) annotations: Vec<Annotation>,
    /// The timeout of a call, as an expression of the type `Duration`.
    pub(crate) timeout: Option<Expr>,
    /// Whether the function blocks its thread.
    pub(crate) is_blocking: bool,
    /// Whether the function is an associated function, so that it is called as `Self::name`.
    pub(crate) is_associated: bool,
    /// Whether arguments that the schema does not name are accepted.
    pub(crate) has_unknown_members: bool,
}

/// An annotation, with the name of its field in `ToolAnnotations`.
pub(crate) struct Annotation {
    pub(crate) name: Ident,
    pub(crate) value: Expr,
}

const KNOWN: &str = "name, description, title, permissions(…), read_only, destructive, idempotent, open_world, \
                     stable_display, concurrency_key, output, timeout, blocking, unknown_members, associated, crate";

impl Options {
    /// Parses the options; `tools` is the path of agcore-tools unless the option `crate` sets another one.
    pub(crate) fn parse(input: ParseStream<'_>, tools: Path) -> Result<Self> {
        let mut options = Self {
            tools,
            name: None,
            description: None,
            output: None,
            permissions: Vec::new(),
            annotations: Vec::new(),
            timeout: None,
            is_blocking: false,
            is_associated: false,
            has_unknown_members: false,
        };
        let mut seen: Vec<Ident> = Vec::new();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            if seen.contains(&key) {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
            options.parse_option(&key, input)?;
            seen.push(key);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        options.check()?;
        Ok(options)
    }

    /// Checks that a tool that only reads is nothing else: annotations and permissions decide about approvals.
    fn check(&self) -> Result<()> {
        let annotation = |name: &str| {
            let given = self.annotations.iter().find(|annotation| annotation.name == name)?;
            matches!(
                &given.value,
                Expr::Lit(ExprLit {
                    lit: Lit::Bool(LitBool { value: true, .. }),
                    ..
                })
            )
            .then_some(&given.name)
        };
        if annotation("read_only").is_none() {
            return Ok(());
        }
        let changes = self.permissions.iter().find(|permission| permission.is_change());
        let span = annotation("destructive")
            .map(Ident::span)
            .or(changes.map(Permission::span));
        match span {
            Some(span) => Err(Error::new(
                span,
                "a `read_only` tool changes nothing: remove `read_only`, or this",
            )),
            None => Ok(()),
        }
    }

    fn parse_option(&mut self, key: &Ident, input: ParseStream<'_>) -> Result<()> {
        match key.to_string().as_str() {
            "crate" => self.tools = value(key, input, path)?,
            "name" => self.name = Some(value(key, input, name)?),
            "description" => self.description = Some(value(key, input, text)?),
            "output" => self.output = Some(value(key, input, Type::parse)?),
            "permissions" => self.permissions = permissions(key, input)?,
            "title" | "concurrency_key" => {
                let value = value(key, input, text)?;
                self.annotate(key, value);
            }
            "read_only" | "destructive" | "idempotent" | "open_world" | "stable_display" => {
                let value = flag(key, input)?;
                self.annotate(key, value);
            }
            "timeout" => self.timeout = Some(value(key, input, timeout::parse)?),
            "blocking" => self.is_blocking = boolean(key, input)?,
            "associated" => self.is_associated = boolean(key, input)?,
            "unknown_members" => self.has_unknown_members = boolean(key, input)?,
            unknown => {
                let meant = meant(unknown)
                    .map(|name| format!("did you mean `{name}`? "))
                    .unwrap_or_default();
                let message = format!("unknown option `{unknown}`: {meant}expected one of {KNOWN}");
                return Err(Error::new(key.span(), message));
            }
        }
        Ok(())
    }

    fn annotate(&mut self, key: &Ident, value: Expr) {
        self.annotations.push(Annotation {
            name: key.clone(),
            value,
        });
    }
}

/// Returns the option that was written without its underscores, or in another case.
fn meant(unknown: &str) -> Option<&'static str> {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let known = KNOWN.split(", ").map(|name| name.trim_end_matches("(…)"));
    known.into_iter().find(|name| plain(name) == plain(unknown))
}

/// Parses `= value` after a key.
fn value<T>(key: &Ident, input: ParseStream<'_>, parse: impl FnOnce(ParseStream<'_>) -> Result<T>) -> Result<T> {
    if !input.peek(Token![=]) {
        let message = format!("`{key}` needs a value: write `{key} = …`");
        return Err(Error::new(key.span(), message));
    }
    input.parse::<Token![=]>()?;
    parse(input)
}

/// Parses the value of the option `crate`.
pub(crate) fn path(input: ParseStream<'_>) -> Result<Path> {
    if input.peek(LitStr) {
        return Err(input.error("write the path without quotes: `crate = agcore::tools`"));
    }
    input.call(Path::parse_mod_style)
}

/// Parses the name, which must be a literal: rules and grants refer to it, and a text search should find it. The
/// registry performs the complete check.
fn name(input: ParseStream<'_>) -> Result<LitStr> {
    let name: LitStr = input.parse()?;
    let text = name.value();
    if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let message = "a tool name must not be empty or contain whitespace or control characters";
        return Err(Error::new(name.span(), message));
    }
    Ok(name)
}

/// Parses a text that is not empty, or an expression that evaluates to a text.
fn text(input: ParseStream<'_>) -> Result<Expr> {
    let value: Expr = input.parse()?;
    let problem = match &value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) if text.value().trim().is_empty() => "the text is empty; write a text or omit the option",
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => return Ok(value),
        Expr::Lit(_) => "expected a string literal, or an expression that evaluates to a string",
        _ => return Ok(value),
    };
    Err(Error::new_spanned(value, problem))
}

/// Parses a flag: `read_only` or `read_only = false`.
fn flag(key: &Ident, input: ParseStream<'_>) -> Result<Expr> {
    let value = LitBool::new(boolean(key, input)?, key.span());
    Ok(parse_quote!(#value))
}

fn boolean(key: &Ident, input: ParseStream<'_>) -> Result<bool> {
    if input.peek(Token![=]) {
        return value(key, input, LitBool::parse).map(|value| value.value);
    }
    Ok(true)
}

fn permissions(key: &Ident, input: ParseStream<'_>) -> Result<Vec<Permission>> {
    if !input.peek(syn::token::Paren) {
        let message = "write the permissions in parentheses, such as `permissions(read, network)`";
        return Err(Error::new(key.span(), message));
    }
    let content;
    parenthesized!(content in input);
    let listed = Punctuated::<Permission, Token![,]>::parse_terminated(&content)?;
    let mut permissions: Vec<Permission> = Vec::new();
    for permission in listed {
        if permissions.contains(&permission) {
            return Err(Error::new(permission.span(), "duplicate permission"));
        }
        permissions.push(permission);
    }
    if permissions.is_empty() {
        let message = "the list of permissions is empty; omit the option for a tool that needs none";
        return Err(Error::new(key.span(), message));
    }
    Ok(permissions)
}
