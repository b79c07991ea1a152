//! What tests of several embedded databases share.

pub(crate) mod damage;
pub(crate) mod golden;
pub(crate) mod handles;
pub(crate) mod processes;
