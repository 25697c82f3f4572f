//! Reads the case files.
