//! The SGLang scheduler.
//!
//! A pass is either a prefill of waiting prompts or one decode step of everything running; prefill
//! goes first. Admission is a bet: it sets aside only a share of the output that running requests
//! may still produce (the *new-token ratio*). The share shrinks while things go well and is raised
//! when the bet is lost and requests have to be *retracted*.

mod decode;
mod handoff;
mod pages;
mod prefill;
mod radix;
mod ratio;
mod sequence;

use std::collections::{HashMap, VecDeque};

use self::handoff::Destinations;
use self::pages::PagePool;
use self::ratio::NewTokenRatio;
use self::sequence::Sequence;
use super::context::ContextLimit;
use super::rank::{Admission, PassStart, Rank, RankEvent, RequestIndex, Submission};
use super::timing::RankTiming;
use crate::replay::{EngineConfig, WorkerType};

/// Limits of one rank.
#[derive(Debug, Clone)]
struct Limits {
    role: WorkerType,
    page_size: usize,
    max_seqs: usize,
    context: ContextLimit,
    max_prefill_tokens: usize,
    chunk_tokens: usize,
    clip_tokens: usize,
    prefix_caching: bool,
}

/// An SGLang rank.
#[derive(Debug)]
pub struct SglangRank {
    limits: Limits,
    timing: RankTiming,
    pool: PagePool,
    ratio: NewTokenRatio,
    waiting: VecDeque<Box<Sequence>>,
    running: Vec<Box<Sequence>>,
    /// Rejected in the pass under way.
    rejected: Vec<RequestIndex>,
    /// What the pass under way lets out at its end.
    outcome: Vec<RankEvent>,
    /// Prefill role: prompts kept for their handoff.
    held: HashMap<RequestIndex, Box<Sequence>>,
    destinations: Destinations,
}

impl SglangRank {
    /// An empty rank of a worker with `dp_size` ranks.
    pub fn new(config: &EngineConfig, dp_size: u32, timing: RankTiming) -> Self {
        let sglang = &config.sglang;
        // Attention-DP workers divide the chunk among their ranks and bet less cautiously.
        let (chunk_tokens, conservativeness) = if dp_size > 1 {
            let share = sglang.chunked_prefill_size / dp_size as usize;
            (share.max(1), sglang.schedule_conservativeness * 0.3)
        } else {
            (
                sglang.chunked_prefill_size,
                sglang.schedule_conservativeness,
            )
        };
        Self {
            limits: Limits {
                role: config.worker_type,
                page_size: config.block_size,
                max_seqs: config.max_num_seqs,
                context: ContextLimit::new(config.max_model_len),
                max_prefill_tokens: sglang.max_prefill_tokens,
                chunk_tokens,
                clip_tokens: sglang.clip_max_new_tokens,
                prefix_caching: config.enable_prefix_caching,
            },
            timing,
            pool: PagePool::new(config.num_gpu_blocks),
            ratio: NewTokenRatio::new(conservativeness),
            waiting: VecDeque::new(),
            running: Vec::new(),
            rejected: Vec::new(),
            outcome: Vec::new(),
            held: HashMap::new(),
            destinations: Destinations::default(),
        }
    }

    fn sequence(&self, submission: Submission) -> Box<Sequence> {
        let mut sequence = Sequence::new(submission, self.limits.page_size);
        let context = self.limits.context;
        sequence.max_output = context.clamp_output(sequence.input, sequence.max_output);
        Box::new(sequence)
    }

    /// Prompts that leave no room in the model's context do not wait for their turn.
    fn reject_overlong(&mut self) {
        let limits = &self.limits;
        let rejected = &mut self.rejected;
        self.waiting.retain(|sequence| {
            let overlong = limits.context.is_filled_by(sequence.input);
            if overlong {
                rejected.push(sequence.request);
            }
            !overlong
        });
    }
}

impl Rank for SglangRank {
    fn submit(&mut self, submission: Submission) {
        let sequence = self.sequence(submission);
        self.waiting.push_back(sequence);
    }

    fn is_ready(&self) -> bool {
        !self.running.is_empty() || !self.waiting.is_empty() || self.destinations.any_activated()
    }

    fn start_pass(&mut self) -> PassStart {
        let mut start = PassStart::default();
        if self.limits.context.is_set() {
            self.reject_overlong();
        }
        self.promote_arrived(&mut start);
        if !self.run_prefill(&mut start) {
            self.run_decode(&mut start);
        }
        start
    }

    fn finish_pass(&mut self, events: &mut Vec<RankEvent>) {
        events.append(&mut self.outcome);
        events.extend(self.rejected.drain(..).map(RankEvent::Rejected));
    }

    fn is_settling(&self) -> bool {
        self.ratio.is_settling()
    }

    fn is_stuck(&self) -> bool {
        // A rank of a disaggregated pool may still be helped by the other pool.
        self.limits.role == WorkerType::Aggregated
    }

    fn request_destination(&mut self, submission: Submission, events: &mut Vec<RankEvent>) {
        let sequence = self.sequence(submission);
        let pages = sequence.input.div_ceil(self.limits.page_size);
        if pages > self.pool.capacity() || self.limits.context.is_filled_by(sequence.input) {
            events.push(RankEvent::DestinationFailed(sequence.request));
        } else {
            self.destinations.enqueue(sequence);
        }
    }

    fn try_reserve(&mut self, events: &mut Vec<RankEvent>) {
        self.attempt_reservation(events);
    }

    fn activate(&mut self, request: RequestIndex) {
        self.destinations.activate(request);
    }

    fn cancel_destination(&mut self, request: RequestIndex) {
        if let Some(mut sequence) = self.destinations.take_reserved(request) {
            self.pool.let_go(&mut sequence.holding);
            self.destinations.capacity_rose();
        }
    }

    fn release_source(&mut self, request: RequestIndex) {
        if let Some(mut sequence) = self.held.remove(&request) {
            self.pool.tree.touch_path(sequence.holding.node);
            self.pool.let_go(&mut sequence.holding);
            self.destinations.capacity_rose();
        }
    }

    fn load(&self) -> usize {
        self.waiting.len() + self.running.len() + self.held.len() + self.destinations.len()
    }
}

impl PassStart {
    fn admit(&mut self, request: RequestIndex, reused_tokens: usize) {
        self.admissions.push(Admission {
            request,
            reused_tokens,
        });
    }
}
