//! Runnable examples; each file in this package runs offline.
