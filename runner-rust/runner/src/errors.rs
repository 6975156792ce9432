//! The one kind of failure: a sentence for the user.

use std::fmt::Display;

/// Result of everything in this program.
pub type Outcome<T> = Result<T, Failure>;

/// Why a replay was refused or could not be carried out.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure that the core reports, whatever error type the core uses; `{:#}` shows a chain of
    /// causes where the type has one.
    pub fn core(what: &str, error: impl Display) -> Self {
        Self(format!("{what}: {error:#}"))
    }

    /// The sentence on one line, as the process contract asks.
    pub fn one_line(&self) -> String {
        let words: Vec<&str> = self.0.split_whitespace().collect();
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn a_failure_of_several_lines_is_shown_on_one() {
        let failure = Failure::core("replay", "first\n  second\tthird\n");
        assert_eq!(failure.one_line(), "replay: first second third");
    }
}
