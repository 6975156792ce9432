//! The schedulers and the virtual-time runtime around them.
//!
//! Bottom up: [`identity`] says when two blocks may share memory, [`blocks`] and the SGLang page
//! pool keep them, [`batched`] (vLLM, TRT-LLM) and [`sglang`] schedule one rank, [`worker`] groups
//! ranks that step together, [`placement`] spreads requests, [`clock`] orders events, and
//! [`runtime`] plays a workload through one pool or through a prefill and a decode pool.

// Requests move between queues all the time; boxed, a move is that of a pointer.
#![allow(clippy::vec_box)]

pub mod batched;
pub mod blocks;
pub mod clock;
pub mod context;
pub mod identity;
pub mod placement;
pub mod pool;
pub mod rank;
pub mod runtime;
pub mod sglang;
pub mod timing;
pub mod worker;
