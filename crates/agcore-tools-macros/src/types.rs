//! What the macro has to know of types, by their looks.

use syn::{GenericArgument, PathArguments, Type};

/// Whether a parameter of this type comes from the context: `State<…>` or `ToolContext`, by whatever path.
pub(crate) fn is_from_context(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_from_context(&group.elem),
        Type::Paren(paren) => is_from_context(&paren.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let has_generics = matches!(last.arguments, PathArguments::AngleBracketed(_));
            (last.ident == "State" && has_generics) || (last.ident == "ToolContext" && last.arguments.is_none())
        }),
        _ => false,
    }
}

/// The part of this type that cannot be a field of the arguments, and why.
pub(crate) fn unfit(ty: &Type) -> Option<(&Type, &'static str)> {
    match ty {
        Type::Reference(_) => Some((
            ty,
            "arguments are read from the model's JSON and owned: take `String` for `&str`, `Vec<T>` for `&[T]`, `T` for \
             `&T`",
        )),
        Type::ImplTrait(_) => Some((
            ty,
            "an argument has a type with a name: its JSON Schema is made from it",
        )),
        Type::Array(array) => unfit(&array.elem),
        Type::Group(group) => unfit(&group.elem),
        Type::Paren(paren) => unfit(&paren.elem),
        Type::Slice(slice) => unfit(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(unfit),
        Type::Path(path) => {
            let mut segments = path.path.segments.iter();
            segments.find_map(|segment| unfit_generics(&segment.arguments))
        }
        _ => None,
    }
}

fn unfit_generics(arguments: &PathArguments) -> Option<(&Type, &'static str)> {
    let PathArguments::AngleBracketed(generics) = arguments else {
        return None;
    };
    generics.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => unfit(ty),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn context_is_known_by_its_name() {
        let yes: [Type; 4] = [
            parse_quote!(State<Db>),
            parse_quote!(agcore::tools::State<Arc<dyn Store>>),
            parse_quote!(ToolContext),
            parse_quote!((::agcore_tools::ToolContext)),
        ];
        // An application's own `State` may well be an argument: the part of a country, say.
        let no: [Type; 5] = [
            parse_quote!(State),
            parse_quote!(geo::State),
            parse_quote!(Option<State<Db>>),
            parse_quote!(ToolContext<X>),
            parse_quote!([State<Db>; 1]),
        ];
        for ty in &yes {
            assert!(is_from_context(ty), "{}", ty.to_token_stream());
        }
        for ty in &no {
            assert!(!is_from_context(ty), "{}", ty.to_token_stream());
        }
    }

    #[track_caller]
    fn check(ty: &Type, expected: Option<&str>) {
        let found = unfit(ty).map(|(part, _)| part.to_token_stream().to_string());
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn what_cannot_be_a_field_is_found_within() {
        check(&parse_quote!(&str), Some("& str"));
        check(&parse_quote!(Option<Vec<&'static str>>), Some("& 'static str"));
        check(&parse_quote!((i64, [&u8; 2])), Some("& u8"));
        check(&parse_quote!(impl Into<String>), Some("impl Into < String >"));
        check(&parse_quote!(std::collections::HashMap<String, Box<[u8]>>), None);
    }
}
