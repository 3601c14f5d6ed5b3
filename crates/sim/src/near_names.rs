//! Suggestions for misspelled keys.

/// A name this similar to what was written may be meant, from 0 for nothing in common to 1.
const SIMILAR: f64 = 0.6;

/// `did you mean ...? ` with the name nearest to `asked`; empty if none is near.
pub fn meant<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let similarity = |name: &str| strsim::normalized_damerau_levenshtein(asked, name);
    known
        .into_iter()
        .map(|name| (similarity(name), name))
        .filter(|&(similar, _)| similar >= SIMILAR)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map_or_else(String::new, |(_, name)| format!("did you mean {name}? "))
}
