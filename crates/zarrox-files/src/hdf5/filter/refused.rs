//! The names of registered but unsupported filters, for files that do not store filter names.

/// Returns the registered name of an unsupported filter.
pub(super) fn name(id: u16) -> Option<&'static str> {
    Some(match id {
        305 => "LZO",
        32002 => "MAFISC",
        32003 => "Snappy",
        32005 => "APAX",
        32006 => "CBF",
        32007 => "JPEG-XR",
        32009 => "SPDP",
        32010 => "LPC-Rice",
        32011 => "CCSDS-123",
        32012 => "JPEG-LS",
        32014 => "FPZIP",
        32016 => "B3D",
        32017 => "SZ",
        32018 => "FCIDECOMP",
        32019 => "JPEG",
        32020 => "VBZ",
        32021 => "FAPEC",
        32024 => "SZ3",
        32028 => "SPERR",
        _ => return None,
    })
}
