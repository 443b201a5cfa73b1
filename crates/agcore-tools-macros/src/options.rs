//! [`Options`]: what stands in the brackets of `#[tool(…)]`.

mod permission;

use syn::{
    Error, Expr, ExprLit, Ident, Lit, LitBool, LitStr, Path, Result, Token, Type,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    parse_quote,
    punctuated::Punctuated,
};

pub(crate) use self::permission::Permission;

/// What stands in the brackets of `#[tool(…)]`.
pub(crate) struct Options {
    /// Where agcore-tools is.
    pub(crate) tools: Path,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    /// The type whose schema is the output's.
    pub(crate) output: Option<Type>,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) annotations: Vec<Annotation>,
}

/// One of `ToolAnnotations`, named as there.
pub(crate) struct Annotation {
    pub(crate) name: Ident,
    pub(crate) value: Expr,
}

const KNOWN: &str = "name, description, title, permissions(…), read_only, destructive, idempotent, open_world, \
                     stable_display, concurrency_key, output, crate";

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self {
            tools: parse_quote!(::agcore_tools),
            name: None,
            description: None,
            output: None,
            permissions: Vec::new(),
            annotations: Vec::new(),
        };
        let mut seen: Vec<Ident> = Vec::new();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            if seen.contains(&key) {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
            options.read(&key, input)?;
            seen.push(key);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn read(&mut self, key: &Ident, input: ParseStream<'_>) -> Result<()> {
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
            unknown => {
                let message = format!("there is no option `{unknown}`; there are {KNOWN}");
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

/// What stands behind `key =`.
fn value<T>(key: &Ident, input: ParseStream<'_>, read: impl FnOnce(ParseStream<'_>) -> Result<T>) -> Result<T> {
    if !input.peek(Token![=]) {
        let message = format!("`{key}` wants a value: write `{key} = …`");
        return Err(Error::new(key.span(), message));
    }
    input.parse::<Token![=]>()?;
    read(input)
}

fn path(input: ParseStream<'_>) -> Result<Path> {
    if input.peek(LitStr) {
        return Err(input.error("a path stands without quotes: `crate = agcore::tools`"));
    }
    input.call(Path::parse_mod_style)
}

/// The name is literal: rules and grants speak of it, and a search shall find it. The registry has the last word on it.
fn name(input: ParseStream<'_>) -> Result<LitStr> {
    let name: LitStr = input.parse()?;
    let text = name.value();
    if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let message = "a tool's name is not empty and contains no white space or control characters";
        return Err(Error::new(name.span(), message));
    }
    Ok(name)
}

/// A text that says something, or an expression that gives one.
fn text(input: ParseStream<'_>) -> Result<Expr> {
    let value: Expr = input.parse()?;
    let problem = match &value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) if text.value().trim().is_empty() => "it says nothing; leave the option out or write a text",
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => return Ok(value),
        Expr::Lit(_) => "expected a text in quotes, or an expression that gives one",
        _ => return Ok(value),
    };
    Err(Error::new_spanned(value, problem))
}

/// `read_only` alone, or `read_only = false`.
fn flag(key: &Ident, input: ParseStream<'_>) -> Result<Expr> {
    let value = if input.peek(Token![=]) {
        value(key, input, LitBool::parse)?
    } else {
        LitBool::new(true, key.span())
    };
    Ok(parse_quote!(#value))
}

fn permissions(key: &Ident, input: ParseStream<'_>) -> Result<Vec<Permission>> {
    if !input.peek(syn::token::Paren) {
        let message = "write what it needs in brackets, such as `permissions(read, network)`";
        return Err(Error::new(key.span(), message));
    }
    let content;
    parenthesized!(content in input);
    let listed = Punctuated::<Permission, Token![,]>::parse_terminated(&content)?;
    let mut permissions: Vec<Permission> = Vec::new();
    for permission in listed {
        if permissions.contains(&permission) {
            return Err(Error::new(permission.span(), "it is named twice"));
        }
        permissions.push(permission);
    }
    if permissions.is_empty() {
        let message = "it names none; leave it out for a tool that needs no permission";
        return Err(Error::new(key.span(), message));
    }
    Ok(permissions)
}
