//! Checks the attributes and parameters of a struct.

use syn::{DeriveInput, Error, Result};

/// Checks that the struct has a fixed layout and no parameters.
pub(crate) fn check(input: &DeriveInput) -> Result<()> {
    if !input.generics.params.is_empty() {
        let message =
            "an element cannot have type parameters, lifetimes or constants: it must have a single data type";
        return Err(Error::new_spanned(&input.generics, message));
    }
    let mut ordered = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            ordered |= meta.path.is_ident("C");
            // The numbers in `packed(2)` and `align(8)` are skipped: padding is detected by comparing sizes.
            if meta.input.peek(syn::token::Paren) {
                let number;
                syn::parenthesized!(number in meta.input);
                number.parse::<syn::LitInt>()?;
            }
            Ok(())
        })?;
    }
    if ordered {
        return Ok(());
    }
    let message = "the order of the fields must be fixed: write #[repr(C)], or #[repr(C, packed)] if there would be padding";
    Err(Error::new(input.ident.span(), message))
}
