//! Syntactic checks of types.

use syn::{GenericArgument, PathArguments, Type};

/// Returns whether a parameter of this type is extracted from the context: `State<…>` or `ToolContext`, by any path.
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

/// Returns the part of a type that cannot be used in arguments, and the reason.
pub(crate) fn unsupported(ty: &Type) -> Option<(&Type, &'static str)> {
    match ty {
        Type::Reference(_) => Some((
            ty,
            "arguments are deserialized from JSON and must be owned: use `String` for `&str`, `Vec<T>` for `&[T]`, `T` \
             for `&T`",
        )),
        Type::ImplTrait(_) => Some((
            ty,
            "an argument must have a named type, from which its JSON Schema is derived",
        )),
        Type::Array(array) => unsupported(&array.elem),
        Type::Group(group) => unsupported(&group.elem),
        Type::Paren(paren) => unsupported(&paren.elem),
        Type::Slice(slice) => unsupported(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(unsupported),
        Type::Path(path) => {
            let mut segments = path.path.segments.iter();
            segments.find_map(|segment| unsupported_generics(&segment.arguments))
        }
        _ => None,
    }
}

fn unsupported_generics(arguments: &PathArguments) -> Option<(&Type, &'static str)> {
    let PathArguments::AngleBracketed(generics) = arguments else {
        return None;
    };
    generics.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => unsupported(ty),
        _ => None,
    })
}

/// Containers of the standard library that can be deserialized if what they contain can be.
const CONTAINERS: [&str; 11] = [
    "Option",
    "Box",
    "Rc",
    "Arc",
    "Vec",
    "VecDeque",
    "LinkedList",
    "HashSet",
    "BTreeSet",
    "HashMap",
    "BTreeMap",
];

/// Returns the types that a type consists of: those in a container, an array or a tuple, and otherwise the type itself. A
/// message about one of these names the declaration that lacks something.
pub(crate) fn parts(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Array(array) => parts(&array.elem),
        Type::Group(group) => parts(&group.elem),
        Type::Paren(paren) => parts(&paren.elem),
        Type::Tuple(tuple) => tuple.elems.iter().flat_map(parts).collect(),
        Type::Path(path) => match path.path.segments.last().map(|last| (&last.ident, &last.arguments)) {
            Some((name, PathArguments::AngleBracketed(generics))) if CONTAINERS.iter().any(|known| name == known) => {
                let types = generics.args.iter().filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                });
                types.flat_map(parts).collect()
            }
            _ => vec![ty],
        },
        _ => vec![ty],
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn recognizes_context_types_by_name() {
        let from_context: [Type; 4] = [
            parse_quote!(State<Db>),
            parse_quote!(agcore::tools::State<Arc<dyn Store>>),
            parse_quote!(ToolContext),
            parse_quote!((::agcore_tools::ToolContext)),
        ];
        // A type of the application named `State`, such as that of a country, is an ordinary argument.
        let arguments: [Type; 5] = [
            parse_quote!(State),
            parse_quote!(geo::State),
            parse_quote!(Option<State<Db>>),
            parse_quote!(ToolContext<X>),
            parse_quote!([State<Db>; 1]),
        ];
        for ty in &from_context {
            assert!(is_from_context(ty), "{}", ty.to_token_stream());
        }
        for ty in &arguments {
            assert!(!is_from_context(ty), "{}", ty.to_token_stream());
        }
    }

    #[track_caller]
    fn check(ty: &Type, expected: Option<&str>) {
        let found = unsupported(ty).map(|(part, _)| part.to_token_stream().to_string());
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn finds_unsupported_types_inside_others() {
        check(&parse_quote!(&str), Some("& str"));
        check(&parse_quote!(Option<Vec<&'static str>>), Some("& 'static str"));
        check(&parse_quote!((i64, [&u8; 2])), Some("& u8"));
        check(&parse_quote!(impl Into<String>), Some("impl Into < String >"));
        check(&parse_quote!(std::collections::HashMap<String, Box<[u8]>>), None);
    }

    #[test]
    fn the_parts_of_containers_are_found() {
        let found = |ty: Type| -> Vec<String> {
            parts(&ty)
                .iter()
                .map(|part| part.to_token_stream().to_string())
                .collect()
        };
        assert_eq!(found(parse_quote!(City)), ["City"]);
        assert_eq!(
            found(parse_quote!(Option<std::collections::HashMap<String, Vec<geo::City>>>)),
            ["String", "geo :: City"]
        );
        assert_eq!(found(parse_quote!((u8, [Box<City>; 2]))), ["u8", "City"]);
        // Others may need less than their parts do.
        assert_eq!(found(parse_quote!(PhantomData<City>)), ["PhantomData < City >"]);
    }
}
