//! Limits how deep brackets nest: the parser of GraphQL goes as deep as a text does, and a deep one
//! would end the process.

use std::sync::LazyLock;

use regex::Regex;

/// The deepest that is parsed.
const MOST: usize = 60;

/// Brackets, and what may have others in it that are none: texts of several lines, texts of one,
/// comments.
static BRACKETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let texts = r#"(?s)"""(?:\\"""|.)*?"""|"(?:\\.|[^"\\\n])*"#;
    Regex::new(&format!(r"{texts}[\x22\n]?|#[^\n\r]*|[{{}}\[\]()]")).ok()
});

/// True if brackets of a text nest too deep to be parsed.
pub(super) fn is_too_deep(text: &str) -> bool {
    let Some(brackets) = BRACKETS.as_ref() else {
        return true;
    };
    let mut depth: usize = 0;
    let mut depths = brackets.find_iter(text).map(|found| {
        match found.as_str() {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    depths.any(|depth| depth > MOST)
}

#[cfg(test)]
mod tests {
    use super::is_too_deep;

    #[test]
    fn brackets_are_counted_outside_of_comments_and_texts() {
        let deep = "[".repeat(100);
        for text in [
            format!("# {deep}\n{{ a }}"),
            format!("{{ a(b: \"{deep}\\\" {deep}\") }}"),
            format!("\"\"\" {deep} \\\"\"\" {deep} \"\"\" type A"),
            "{ a }".repeat(1_000),
            String::new(),
        ] {
            assert!(!is_too_deep(&text), "{text}");
        }
        for text in [
            deep.clone(),
            "{a(b:[".repeat(30),
            format!("\"\" {deep}"),
            format!("# x\n{deep}"),
            format!("\"\"\" x \"\"\" {deep}"),
        ] {
            assert!(is_too_deep(&text), "{text}");
        }
    }
}
