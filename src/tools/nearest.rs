//! The known name most similar to an unknown one.

/// The longest name that is compared with known ones, in bytes: the time grows with the product of
/// both lengths.
pub(crate) const MOST_NAME: usize = 128;

/// The known name most similar to an unknown one, if the similarity (0 to 1) is at least this.
pub(crate) fn nearest<N: AsRef<str>>(
    name: &str,
    known: impl IntoIterator<Item = N>,
    least: f64,
) -> Option<N> {
    known
        .into_iter()
        .filter(|_| name.len() <= MOST_NAME)
        .map(|known| (strsim::jaro_winkler(known.as_ref(), name), known))
        .filter(|(likeness, _)| *likeness >= least)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// A "did you mean" question for the end of a message.
pub(crate) fn did_you_mean(name: Option<impl std::fmt::Display>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}
