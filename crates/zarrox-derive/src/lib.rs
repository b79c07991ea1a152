//! `#[derive(Element)]`: Rust structs as elements of structured Zarr arrays.
//!
//! Programs use the macro through the crate `zarrox`, which also runs the examples in the macro's documentation.

mod field;
mod layout;

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result, parse_macro_input};

use field::Field;

// The crate `zarrox` runs the examples: as a dependency of this crate, it would be compiled a second time.
#[doc = include_str!("element.md")]
#[proc_macro_derive(Element, attributes(zarr))]
pub fn derive_element(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implementation(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn implementation(input: &DeriveInput) -> Result<TokenStream> {
    layout::check(input)?;
    let fields = fields(input)?;
    let name = &input.ident;
    let types: Vec<_> = fields.iter().map(|field| field.rust_type).collect();
    let described = fields.iter().map(|field| field.description(name));
    let padded = format!("`{name}` has padding between or after its fields: write #[repr(C, packed)]");
    let size = format!("elements of `{name}` must have between 1 byte and 1 MiB");
    Ok(quote! {
        const _: () = {
            const FIELDS: &[::zarrox::internals::data_type::record::RustField] = &[#(#described),*];
            const SUM: usize = 0 #(+ ::core::mem::size_of::<#types>())*;
            const SIZE: usize = ::core::mem::size_of::<#name>();
            const { ::core::assert!(SIZE == SUM, #padded) };
            const { ::core::assert!(SIZE > 0 && SIZE <= ::zarrox::internals::data_type::LARGEST, #size) };

            // SAFETY: the order of the fields is fixed by `repr(C)`, there is no padding between them, and all of them are
            // elements.
            #[automatically_derived]
            unsafe impl ::zarrox::Element for #name {
                fn data_type() -> ::zarrox::DataType {
                    ::zarrox::internals::data_type::record::data_type(FIELDS, SIZE)
                }

                fn holds(data_type: &::zarrox::DataType) -> bool {
                    ::zarrox::internals::data_type::record::holds(FIELDS, SIZE, data_type)
                }
            }

            #[automatically_derived]
            impl ::zarrox::IntoElements for #name {
                fn elements(
                    &self,
                    target: &::zarrox::internals::elements::Target<'_>,
                ) -> ::zarrox::Result<::zarrox::internals::elements::Elements<'_>> {
                    ::zarrox::internals::elements::scalar(self, target)
                }
            }
        };
    })
}

/// Returns the fields of a struct. There must be at least one, and their names must be different.
fn fields(input: &DeriveInput) -> Result<Vec<Field<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "only a struct can be an element"));
    };
    let named = match &data.fields {
        Fields::Named(named) if !named.named.is_empty() => &named.named,
        Fields::Named(_) | Fields::Unit => {
            return Err(Error::new(input.ident.span(), "an element needs at least one field"));
        }
        Fields::Unnamed(unnamed) => {
            return Err(Error::new(
                unnamed.span(),
                "the fields of an element need names, as in `{ x: f32 }`",
            ));
        }
    };
    let fields = named.iter().map(Field::parse).collect::<Result<Vec<_>>>()?;
    for (index, field) in fields.iter().enumerate() {
        if fields[..index].iter().any(|before| before.name == field.name) {
            let message = format!("another field already has the name \"{}\"", field.name);
            return Err(Error::new(field.ident.span(), message));
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn errors_name_the_remedy() {
        let cases: [(DeriveInput, &str); 10] = [
            (
                parse_quote!(
                    struct A {
                        x: f32,
                    }
                ),
                "write #[repr(C)], or #[repr(C, packed)]",
            ),
            (
                parse_quote!(
                    #[repr(transparent)]
                    struct A {
                        x: f32,
                    }
                ),
                "write #[repr(C)]",
            ),
            (
                parse_quote!(
                    #[repr(C)]
                    struct A<'a> {
                        x: &'a f32,
                    }
                ),
                "cannot have type parameters, lifetimes",
            ),
            (
                parse_quote!(
                    #[repr(C)]
                    struct A(f32);
                ),
                "need names, as in `{ x: f32 }`",
            ),
            (
                parse_quote!(
                    #[repr(C)]
                    struct A {}
                ),
                "at least one field",
            ),
            (parse_quote!(#[repr(C)] union A { x: f32, y: u32 }), "only a struct"),
            (
                parse_quote!(
                    #[repr(C)]
                    enum A {
                        X,
                        Y,
                    }
                ),
                "only a struct",
            ),
            (
                parse_quote!(
                    #[repr(C)]
                    struct A {
                        #[zarr(rename = "")]
                        x: f32,
                    }
                ),
                "needs a name",
            ),
            (
                parse_quote!(
                    #[repr(C)]
                    struct A {
                        #[zarr(skip)]
                        x: f32,
                    }
                ),
                "expected `rename = ",
            ),
            (
                parse_quote!(
                    #[repr(C)]
                    struct A {
                        x: f32,
                        #[zarr(rename = "x")]
                        y: f32,
                    }
                ),
                "name \"x\"",
            ),
        ];
        for (input, wanted) in cases {
            let message = implementation(&input).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn alignment_is_allowed() {
        for input in [
            parse_quote!(
                #[repr(C, packed(2))]
                struct A {
                    x: f32,
                }
            ),
            parse_quote!(
                #[repr(align(8), C)]
                struct A {
                    r#type: f64,
                }
            ),
        ] {
            assert!(implementation(&input).is_ok());
        }
    }
}
