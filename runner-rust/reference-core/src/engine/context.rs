//! The model's context: how long prompt and output of one request may be together.

/// The limit, where a rank has one.
#[derive(Debug, Clone, Copy)]
pub struct ContextLimit(Option<usize>);

impl ContextLimit {
    /// At most `max_model_len` tokens; any number when none.
    pub fn new(max_model_len: Option<usize>) -> Self {
        Self(max_model_len)
    }

    /// Whether there is one.
    pub fn is_set(self) -> bool {
        self.0.is_some()
    }

    /// Whether a prompt of `input` tokens leaves no room for an output.
    pub fn is_filled_by(self, input: usize) -> bool {
        self.0.is_some_and(|limit| limit <= input)
    }

    /// `output` tokens, or as many as there is room for beside a prompt of `input` tokens.
    pub fn clamp_output(self, input: usize, output: usize) -> usize {
        self.0
            .map_or(output, |limit| output.min(limit.saturating_sub(input)))
    }
}

#[cfg(test)]
mod tests {
    use super::ContextLimit;

    #[test]
    fn prompt_and_output_share_the_context() {
        let limit = ContextLimit::new(Some(10));
        assert_eq!(limit.clamp_output(7, 9), 3);
        assert_eq!(limit.clamp_output(7, 2), 2);
        assert!(limit.is_filled_by(10) && !limit.is_filled_by(9));
        assert_eq!(ContextLimit::new(None).clamp_output(7, 9), 9);
        assert!(!ContextLimit::new(None).is_filled_by(usize::MAX));
    }
}
