//! Texts embedded in the package, by name: presets and scenarios.

/// Names and texts, sorted by name, as `build.rs` writes them.
pub(crate) struct Embedded(pub &'static [(&'static str, &'static str)]);

impl Embedded {
    /// The names, in alphabetical order.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|&(name, _)| name).collect()
    }

    /// The text with this name.
    pub(crate) fn text(&self, name: &str) -> Option<&'static str> {
        let position = self
            .0
            .binary_search_by(|&(candidate, _)| candidate.cmp(name))
            .ok()?;
        self.0.get(position).map(|&(_, text)| text)
    }
}
