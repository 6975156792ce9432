//! The new-token ratio: which share of their remaining output running requests are expected to use.

const INITIAL: f64 = 0.7;
const FLOOR_SHARE: f64 = 0.14;
const STEPS: f64 = 600.0;
/// Tokens per surviving request that a retraction leaves room for.
pub(super) const RETRACT_TOKENS: usize = 20;

/// The ratio and its decay.
#[derive(Debug, Clone)]
pub(super) struct NewTokenRatio {
    value: f64,
    floor: f64,
    step: f64,
    moved: bool,
}

impl NewTokenRatio {
    pub fn new(conservativeness: f64) -> Self {
        let initial = (INITIAL * conservativeness).min(1.0);
        let floor = FLOOR_SHARE * initial;
        Self {
            value: initial,
            floor,
            step: (initial - floor) / STEPS,
            moved: false,
        }
    }

    pub fn value(&self) -> f64 {
        self.value
    }

    /// A pass without prefill and without retraction: expect a little less.
    pub fn decay(&mut self) {
        let next = (self.value - self.step).max(self.floor);
        self.moved = next != self.value;
        self.value = next;
    }

    /// A pass that left the ratio alone.
    pub fn hold(&mut self) {
        self.moved = false;
    }

    /// After a retraction, expect what the survivors' progress so far suggests.
    pub fn raise(&mut self, generated: usize, survivors: usize, max_output: usize) {
        let estimate = (generated + RETRACT_TOKENS * survivors) as f64 / (max_output + 1) as f64;
        self.value = estimate.min(1.0);
        self.moved = true;
    }

    /// Whether the last pass changed the ratio, so that the next one may decide differently.
    pub fn is_settling(&self) -> bool {
        self.moved
    }
}
