//! Simulated drives in virtual time and their closed forms
