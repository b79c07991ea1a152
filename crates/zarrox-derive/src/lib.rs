//! `#[derive(Element)]`: Rust structs as elements of structured Zarr arrays.
//!
//! Programs get it from the crate `zarrox`, where the documentation of the macro has the examples.

mod field;
mod layout;

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result, parse_macro_input};

use field::Field;

/// Lets a struct be an element of a structured data type: `array.read::<Particle>(..)`.
///
/// The struct must be `#[repr(C)]` or `#[repr(C, packed)]`, have no type parameters, and at least one field; `Element` also wants
/// `Clone, Copy, Debug, PartialEq`. The fields, in their order, are those of the data type:
///
/// | a field that is | is in the data type |
/// |---|---|
/// | any `Element`: a number, `bool`, a complex number | its data type |
/// | a struct that derives `Element` | a nested structure |
/// | `[T; N]`, also `[[T; N]; M]` | an array of fixed shape, which v2 can say, and v3 cannot |
/// | `[u8; N]` | `N` raw bytes, in v2 and v3 |
///
/// Elements are copied byte for byte, so the struct may have no padding: where the compiler complains about it, add `packed`.
///
/// - `#[zarr(rename = "…")]` on a field gives it another name in the data type.
/// - `#[zarr(data_type = …)]` on a field creates arrays with another type of the same storage; the value is an expression, as in
///   `#[zarr(data_type = DataType::datetime64(TimeUnit::Second))]` on an `i64`. For an array of `u8` or `u32`, it can be the type of
///   the whole: byte strings or text.
///
/// Arrays that exist already are read and written as the struct when their fields have the same names, offsets and shapes, and
/// the type of each is one that the Rust type holds: a `numpy.datetime64` is held by an `i64`, text by a `[u32; N]`. Byte orders do
/// not matter. A data type with padding between its fields is not held; read its fields alone.
///
/// ```
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C, packed)]
/// struct Particle {
///     id: i64,
///     #[zarr(rename = "pos")]
///     position: [f32; 3],
///     alive: bool,
/// }
///
/// # let directory = tempfile::tempdir()?;
/// let array = zarrox::create_array(directory.path().join("particles.zarr"))
///     .format(Format::V2)
///     .shape([100])
///     .data_type(Particle::data_type())
///     .fill_value(Particle { id: -1, position: [0.0; 3], alive: false })
///     .create()?;
/// let first = Particle { id: 1, position: [0.5, 1.0, 1.5], alive: true };
/// array.write(s![..1], &ndarray::arr1(&[first]))?;
/// let read = array.read::<Particle>(s![..2])?;
/// assert_eq!(read[[0]], first);
/// assert_eq!({ read[[1]].id }, -1);
/// assert_eq!(array.data_type().to_string(), "struct(id: int64, pos: float32[3], alive: bool)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// What cannot be an element does not compile. The order of the fields is Rust's own business without `repr(C)`:
///
/// ```compile_fail
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// struct Unordered { x: f32, y: f32 }
/// ```
///
/// Between `flag` and `x` there are three bytes of padding:
///
/// ```compile_fail,E0080
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Padded { flag: bool, x: f32 }
/// ```
///
/// Not every pattern of bits is a `char`, nor a reference, so these are no elements:
///
/// ```compile_fail,E0277
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Letter { letter: char }
/// ```
///
/// Type parameters, tuple structs, enums and unions are refused:
///
/// ```compile_fail
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Generic<T> { x: T }
/// ```
///
/// ```compile_fail
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Tuple(f32, f32);
/// ```
///
/// ```compile_fail
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// enum Choice { One, Two }
/// ```
///
/// So are two fields of one name, and attributes that mean nothing:
///
/// ```compile_fail
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Twice { x: f32, #[zarr(rename = "x")] y: f32 }
/// ```
///
/// ```compile_fail
/// # use zarrox::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Misspelt { #[zarr(renamed = "y")] x: f32 }
/// ```
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
    let padded = format!("`{name}` has padding between or behind its fields: write #[repr(C, packed)]");
    let size = format!("elements of `{name}` have no bytes, or more than a megabyte");
    Ok(quote! {
        const _: () = {
            const FIELDS: &[::zarrox::data_type::record::RustField] = &[#(#described),*];
            const SUM: usize = 0 #(+ ::core::mem::size_of::<#types>())*;
            const SIZE: usize = ::core::mem::size_of::<#name>();
            const { ::core::assert!(SIZE == SUM, #padded) };
            const { ::core::assert!(SIZE > 0 && SIZE <= ::zarrox::data_type::LARGEST, #size) };

            // SAFETY: the order of the fields is `repr(C)`'s, there is nothing between them, and all of them are elements.
            #[automatically_derived]
            unsafe impl ::zarrox::Element for #name {
                fn data_type() -> ::zarrox::DataType {
                    ::zarrox::data_type::record::data_type(FIELDS, SIZE)
                }

                fn holds(data_type: &::zarrox::DataType) -> bool {
                    ::zarrox::data_type::record::holds(FIELDS, SIZE, data_type)
                }
            }
        };
    })
}

/// The fields of a struct that has some, each with a name of its own.
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
            let message = format!("another field has the name \"{}\" already", field.name);
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
    fn a_refusal_says_what_to_do() {
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
                "no type parameters, lifetimes",
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
                "\"x\" already",
            ),
        ];
        for (input, wanted) in cases {
            let message = implementation(&input).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn alignment_may_be_said_as_well() {
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
