//! A small, readable replay core: it plays a request trace through virtual-time models of the
//! vLLM, SGLang and TRT-LLM schedulers and reports when each request got its tokens.
//!
//! Start at [`replay::Replayer`]; the schedulers themselves are in [`engine`].

pub mod engine;
pub mod replay;
