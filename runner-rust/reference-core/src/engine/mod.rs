//! The schedulers and the virtual-time runtime around them.
