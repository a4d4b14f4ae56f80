//! Hook programs of others whose work a server of ours does: how their entries in an agent's settings are told.

/// A hook program of somebody else.
#[derive(Debug)]
pub struct Rival {
    /// Its name.
    pub name: &'static str,
    /// The server in hookctl's config that takes its place; none = its entries are only reported.
    pub remote: Option<&'static str>,
    /// What comes of both at once.
    pub twice: &'static str,
    /// Its commands contain one of these.
    pub marks: &'static [&'static str],
    /// Those with this, before a call, are of a version that asked nobody.
    pub told: Option<&'static str>,
    /// It calls whole groups its own: those with this key, and those with a command of its own.
    /// When it goes, they go with all that is in them.
    pub group_key: Option<&'static str>,
}
