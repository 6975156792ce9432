//! Collects what happens to requests and turns it into a report.
//!
//! Token times are kept only while a request runs: when it ends, its gaps go into streaming
//! statistics and five figures remain. What remains of a request is kept small, because it stays to
//! the end; the report's records take the observations' place instead of standing beside them.

use super::engine_config::{KvEvictionPolicy, TimingModelConfig};
use super::evidence::{KvIngestEvidence, OfflineRuntimeEvidence, PressureEvidence};
use super::evidence::{PressureKind, PressureRecord};
use super::loadgen::DirectRequest;
use super::observed::{Observed, Routed};
use super::options::ReplayCaptureOptions;
use super::record::{AdmissionRecord, ReplayRequestPool, ReplayTerminalStatus};
use super::report::ReplayReport;
use super::spec::SlaThresholds;
use super::statistics::StreamingStats;
use super::{records, summary};
use crate::engine::placement::Place;
use crate::engine::rank::{Pressure, RequestIndex};
use crate::engine::runtime::PoolUse;
use crate::engine::worker::GroupStart;

/// A step of a handoff that is stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffStamp {
    /// Prompt computed.
    SourceHeld,
    /// Destination blocks set aside.
    DestinationReserved,
    /// Request handed to the decode scheduler.
    DestinationActivated,
    /// Prefill blocks let go.
    SourceReleased,
}

/// Collector of a replay's observations.
#[derive(Debug, Default)]
pub struct TraceCollector {
    options: ReplayCaptureOptions,
    sla: Option<SlaThresholds>,
    pub(super) requests: Vec<Observed>,
    pub(super) gaps: StreamingStats,
    pub(super) user_rates: StreamingStats,
    pressure: PressureEvidence,
    pub(super) prefill_tokens: usize,
    pub(super) pools: Pools,
}

/// The pools' share in the report.
#[derive(Debug, Clone, Default)]
pub(super) struct Pools {
    pub prefill: Option<PoolUse>,
    pub decode: PoolUse,
    pub eviction: KvEvictionPolicy,
    pub timing: Vec<(&'static str, TimingModelConfig)>,
}

impl TraceCollector {
    /// A collector that keeps what `options` ask for and measures goodput against `sla`.
    pub(crate) fn new(options: ReplayCaptureOptions, sla: Option<SlaThresholds>) -> Self {
        Self {
            options,
            sla,
            ..Self::default()
        }
    }

    /// A request arrived; returns its number.
    pub(crate) fn on_arrival(&mut self, request: &DirectRequest) -> RequestIndex {
        self.requests.push(Observed {
            uuid: request.uuid,
            request_id: request.request_id.clone(),
            session_id: request.session_id.clone(),
            turn_index: request.turn_index,
            metadata: request.metadata.clone(),
            arrival_ms: request.arrival_time_ms,
            input_length: request.prompt.len(),
            requested_output: request.max_output_tokens,
            ..Observed::default()
        });
        (self.requests.len() - 1) as RequestIndex
    }

    /// A request was placed.
    pub(crate) fn on_route(&mut self, index: RequestIndex, pool: ReplayRequestPool, place: Place) {
        let observed = &mut self.requests[index as usize];
        observed.routing.reserve_exact(1);
        observed.routing.push(Routed { pool, place });
    }

    /// A pass started: admissions and pressure.
    pub(crate) fn on_pass_start(
        &mut self,
        pool: ReplayRequestPool,
        worker: usize,
        start: &GroupStart,
        now_ms: f64,
    ) {
        for (rank, pass) in &start.ranks {
            for pressure in &pass.pressure {
                self.on_pressure(pool, (worker, *rank), pressure, now_ms);
            }
            for admission in &pass.admissions {
                self.on_admission(admission.request, pool, admission.reused_tokens, now_ms);
            }
        }
    }

    fn on_admission(
        &mut self,
        index: RequestIndex,
        pool: ReplayRequestPool,
        reused_input_tokens: usize,
        at_ms: f64,
    ) {
        let observed = &mut self.requests[index as usize];
        let earlier = observed
            .admissions
            .iter()
            .filter(|a| a.pool == pool)
            .count();
        observed.admissions.reserve_exact(1);
        observed.admissions.push(AdmissionRecord {
            admission_ordinal: observed.admissions.len(),
            pool_admission_ordinal: earlier,
            pool,
            at_ms,
            reused_input_tokens,
            is_readmission: earlier > 0,
        });
        let open = observed.pressure.iter().rev().find(|&&ordinal| {
            let record = &self.pressure.records[ordinal];
            record.pool == pool && record.readmitted_at_ms.is_none()
        });
        if let Some(&ordinal) = open {
            self.pressure.records[ordinal].readmitted_at_ms = Some(at_ms);
        }
    }

    fn on_pressure(
        &mut self,
        pool: ReplayRequestPool,
        (worker_id, rank): (usize, usize),
        pressure: &Pressure,
        now_ms: f64,
    ) {
        if !self.options.capture_canonical_evidence {
            return;
        }
        let ordinal = self.pressure.records.len();
        let observed = &mut self.requests[pressure.request as usize];
        observed.pressure.push(ordinal);
        match pressure.kind {
            PressureKind::VllmPreemption => self.pressure.vllm_preemptions_total += 1,
            PressureKind::SglangRetraction => self.pressure.sglang_retractions_total += 1,
        }
        self.pressure.records.push(PressureRecord {
            pressure_ordinal: ordinal,
            at_ms: now_ms + pressure.offset_ms,
            pool,
            worker_id,
            dp_rank: rank as u32,
            kind: pressure.kind,
            request_uuid: observed.uuid,
            state_before: pressure.before.clone(),
            state_after: pressure.after.clone(),
            request_active_blocks_before: pressure.request_blocks,
            logical_available_blocks_before: pressure.available_blocks,
            required_blocks_before: pressure.required_blocks,
            readmitted_at_ms: None,
        });
    }

    /// A pass ended that had computed prompt tokens.
    pub(crate) fn on_prefill(&mut self, tokens: usize) {
        self.prefill_tokens += tokens;
    }

    /// A request emitted a token.
    pub(crate) fn on_token(&mut self, index: RequestIndex, now_ms: f64) {
        self.requests[index as usize].tokens.push(now_ms);
    }

    /// A handoff went on.
    pub(crate) fn on_handoff(&mut self, index: RequestIndex, stamp: HandoffStamp, now_ms: f64) {
        let observed = &mut self.requests[index as usize];
        let slot = match stamp {
            HandoffStamp::SourceHeld => &mut observed.source_held_ms,
            HandoffStamp::DestinationReserved => &mut observed.destination_reserved_ms,
            HandoffStamp::DestinationActivated => &mut observed.destination_activated_ms,
            HandoffStamp::SourceReleased => &mut observed.source_released_ms,
        };
        *slot = Some(now_ms);
    }

    /// A request ended: fold its token times.
    pub(crate) fn on_terminal(
        &mut self,
        index: RequestIndex,
        status: ReplayTerminalStatus,
        now_ms: f64,
    ) {
        let observed = &mut self.requests[index as usize];
        observed.terminal = Some((status, now_ms));
        let tokens = std::mem::take(&mut observed.tokens);
        observed.output = tokens.len();
        observed.first_token_ms = tokens.first().copied();
        observed.second_token_ms = tokens.get(1).copied();
        observed.last_token_ms = tokens.last().copied();
        for pair in tokens.windows(2) {
            let gap = pair[1] - pair[0];
            self.gaps.push(gap);
            if gap > 0.0 {
                self.user_rates.push(1000.0 / gap);
            }
        }
        if let [first, .., last] = tokens.as_slice() {
            observed.mean_gap_ms = Some((last - first) / (tokens.len() - 1) as f64);
        }
    }

    /// Note the pools' time and timing for the report.
    pub(crate) fn note_pools(
        &mut self,
        prefill: Option<PoolUse>,
        decode: PoolUse,
        eviction: KvEvictionPolicy,
        timing: Vec<(&'static str, TimingModelConfig)>,
    ) {
        self.pools = Pools {
            prefill,
            decode,
            eviction,
            timing,
        };
    }

    /// The report of everything collected; an empty one when nothing was.
    pub fn finish(self) -> ReplayReport {
        let keep_records = self.options.effective_per_request();
        let evidence = self.options.capture_canonical_evidence;
        let mut report = summary::build(&self, self.sla);
        if keep_records {
            report.per_request = records::records(self.requests);
        }
        report.runtime_evidence = OfflineRuntimeEvidence {
            lifecycle_operations: Vec::new(),
            pressure: evidence.then_some(self.pressure),
            kv_ingest: evidence.then(KvIngestEvidence::empty),
        };
        report
    }
}
