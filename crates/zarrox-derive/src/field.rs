//! A field of a struct, and the code that describes it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, LitStr, Result, Type};

/// A field of a struct.
pub(crate) struct Field<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) rust_type: &'a Type,
    /// The name in the data type.
    pub(crate) name: String,
    /// The data type with which arrays are created, if it is not the default one for the Rust type.
    data_type: Option<Expr>,
}

impl<'a> Field<'a> {
    pub(crate) fn parse(field: &'a syn::Field) -> Result<Self> {
        let ident =
            field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a field without a name"))?;
        let mut parsed =
            Self { ident, rust_type: &field.ty, name: ident.unraw().to_string(), data_type: None };
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("zarr")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("rename") {
                    let name: LitStr = meta.value()?.parse()?;
                    if name.value().is_empty() {
                        return Err(Error::new(name.span(), "a field needs a name"));
                    }
                    parsed.name = name.value();
                    return Ok(());
                }
                if meta.path.is_ident("data_type") {
                    parsed.data_type = Some(meta.value()?.parse()?);
                    return Ok(());
                }
                Err(meta.error("expected `rename = \"…\"` or `data_type = …`"))
            })?;
        }
        Ok(parsed)
    }

    /// Returns the code that constructs the field's `RustField`.
    pub(crate) fn description(&self, of: &Ident) -> TokenStream {
        let Self { ident, name, .. } = self;
        let forms = self.forms();
        let declared = match &self.data_type {
            None => quote!(::core::option::Option::None),
            Some(data_type) => quote_spanned!(data_type.span() => {
                fn declared() -> ::zarrox::DataType {
                    #data_type
                }
                ::core::option::Option::Some(declared)
            }),
        };
        quote! {
            ::zarrox::internals::data_type::record::RustField {
                name: #name,
                offset: ::core::mem::offset_of!(#of, #ident),
                forms: &[#(#forms),*],
                declared: #declared,
            }
        }
    }

    /// Returns the forms that the field can have in a data type. The form with which arrays are created comes first.
    fn forms(&self) -> Vec<TokenStream> {
        let form = |element: &Type, lengths: &[&Expr]| {
            let span = element.span();
            quote_spanned!(span => ::zarrox::internals::data_type::record::Form::of::<#element>(&[#(#lengths),*]))
        };
        let (mut element, mut innermost, mut lengths) = (plain(self.rust_type), None, Vec::new());
        while let Type::Array(array) = element {
            innermost = Some(element);
            lengths.push(&array.len);
            element = plain(&array.elem);
        }
        let numbers = form(element, &lengths);
        let Some(whole) = innermost else { return vec![numbers] };
        // Arrays of `u8` and `u32` can also be single elements: raw bytes or byte strings, and strings.
        let is = |name| matches!(element, Type::Path(path) if path.path.is_ident(name));
        let whole = form(whole, &lengths[..lengths.len() - 1]);
        match (is("u8"), is("u32")) {
            (true, _) => vec![whole, numbers],
            (_, true) => vec![numbers, whole],
            _ => vec![numbers],
        }
    }
}

/// Returns the type without the parentheses around it, including invisible ones that macros add.
fn plain(mut rust_type: &Type) -> &Type {
    loop {
        rust_type = match rust_type {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            plain => return plain,
        };
    }
}
