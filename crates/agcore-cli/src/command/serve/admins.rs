//! The tables `[[serve.admins]]` of the settings.

use agcore_server::{AdminTokens, Administrator};
use agcore_settings::AdminEntry;

/// Returns the administrators with tokens. Errors are added to `problems`.
pub(super) fn admins(entries: &[AdminEntry], problems: &mut Vec<String>) -> AdminTokens {
    entries
        .iter()
        .fold(AdminTokens::new(), |tokens, entry| match add(tokens.clone(), entry) {
            Ok(tokens) => tokens,
            Err(reason) => {
                problems.push(format!("[[serve.admins]] {:?}: {reason}", entry.name));
                tokens
            }
        })
}

fn add(tokens: AdminTokens, entry: &AdminEntry) -> Result<AdminTokens, String> {
    let tenants = entry.tenants.as_deref();
    if tenants.is_some_and(|tenants| tenants.is_empty() || tenants.iter().any(String::is_empty)) {
        return Err("`tenants` is empty; name the tenants, or remove it for an administrator of all".to_owned());
    }
    let administrator = tenants
        .unwrap_or_default()
        .iter()
        .fold(Administrator::new(&*entry.name), |administrator, tenant| {
            administrator.with_tenant(tenant.as_str())
        });
    tokens
        .with_hash(&entry.token_sha256, administrator)
        .map_err(|error| error.to_string())
}
