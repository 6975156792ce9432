//! The token-budget scheduler that vLLM and TRT-LLM share.
//!
//! Each pass hands out a budget of tokens, first to running requests in admission order (a decoding
//! request needs one token, a prompt in chunks takes what is left), then to waiting ones. The two
//! engines differ in when a waiting request may start and in what happens when blocks run out:
//! [`vllm`] admits what fits now and preempts later, [`trtllm`] admits only what can run to its end.

mod admission;
mod handoff;
mod outcome;
mod pass;
mod sequence;
mod trtllm;
mod vllm;

use std::collections::{HashMap, VecDeque};

use self::handoff::Destinations;
use self::sequence::Sequence;
use super::blocks::BlockPool;
use super::context::ContextLimit;
use super::rank::{PassStart, Rank, RankEvent, RequestIndex, Submission};
use super::timing::RankTiming;
use crate::replay::{Backend, EngineConfig, PreemptionMode, WorkerType};

/// Limits of one rank.
#[derive(Debug, Clone)]
struct Limits {
    backend: Backend,
    role: WorkerType,
    block_size: usize,
    max_seqs: usize,
    max_tokens: usize,
    context: ContextLimit,
    chunked_prefill: bool,
    prefix_caching: bool,
    preemption: PreemptionMode,
}

/// A vLLM or TRT-LLM rank.
#[derive(Debug)]
pub struct BatchedRank {
    limits: Limits,
    timing: RankTiming,
    pool: BlockPool,
    waiting: VecDeque<Box<Sequence>>,
    running: Vec<Box<Sequence>>,
    /// Rejected in the pass under way.
    rejected: Vec<RequestIndex>,
    /// Prefill role: prompts kept for their handoff.
    held: HashMap<RequestIndex, Box<Sequence>>,
    destinations: Destinations,
}

impl BatchedRank {
    /// An empty rank.
    pub fn new(config: &EngineConfig, timing: RankTiming) -> Self {
        Self {
            limits: Limits {
                backend: config.backend,
                role: config.worker_type,
                block_size: config.block_size,
                max_seqs: config.max_num_seqs,
                max_tokens: config.max_num_batched_tokens,
                context: ContextLimit::new(config.max_model_len),
                chunked_prefill: config.enable_chunked_prefill,
                prefix_caching: config.enable_prefix_caching,
                preemption: config.preemption_mode,
            },
            timing,
            pool: BlockPool::new(config.num_gpu_blocks),
            waiting: VecDeque::new(),
            running: Vec::new(),
            rejected: Vec::new(),
            held: HashMap::new(),
            destinations: Destinations::default(),
        }
    }

    /// The sequence of a submission, with its output limited as the engine limits it.
    fn sequence(&self, submission: Submission) -> Box<Sequence> {
        let mut sequence = Sequence::new(submission, self.limits.block_size);
        let context = self.limits.context;
        sequence.max_output = context.clamp_output(sequence.input, sequence.max_output);
        if self.limits.backend == Backend::Trtllm {
            let capacity = self.pool.capacity() * self.limits.block_size;
            sequence.max_output = trtllm::clamp_output(&sequence, capacity);
        }
        Box::new(sequence)
    }
}

impl Rank for BatchedRank {
    fn submit(&mut self, submission: Submission) {
        let sequence = self.sequence(submission);
        self.waiting.push_back(sequence);
    }

    fn is_ready(&self) -> bool {
        !self.running.is_empty() || !self.waiting.is_empty()
    }

    fn start_pass(&mut self) -> PassStart {
        self.schedule()
    }

    fn finish_pass(&mut self, events: &mut Vec<RankEvent>) {
        self.emit(events);
    }

    fn request_destination(&mut self, submission: Submission, events: &mut Vec<RankEvent>) {
        let sequence = self.sequence(submission);
        if self.can_never_hold(&sequence) {
            events.push(RankEvent::DestinationFailed(sequence.request));
        } else {
            self.destinations.enqueue(sequence);
        }
    }

    fn try_reserve(&mut self, events: &mut Vec<RankEvent>) {
        self.attempt_reservation(events);
    }

    fn activate(&mut self, request: RequestIndex) {
        self.activate_destination(request);
    }

    fn cancel_destination(&mut self, request: RequestIndex) {
        if let Some(mut sequence) = self.destinations.take_reserved(request) {
            self.pool.release_all(&mut sequence.blocks);
            self.destinations.capacity_rose();
        }
    }

    fn release_source(&mut self, request: RequestIndex) {
        if let Some(mut sequence) = self.held.remove(&request) {
            self.pool.release_all(&mut sequence.blocks);
            self.destinations.capacity_rose();
        }
    }

    fn load(&self) -> usize {
        self.waiting.len() + self.running.len() + self.held.len() + self.destinations.len()
    }
}
