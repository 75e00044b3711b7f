//! `#[pointwise]`: a function for the processor, and beside it a macro of the same name that gives its tokens to systems.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;
use stencil_compiler::diag::{Diagnostic, Diagnostics};
use stencil_compiler::hash::fnv1a;
use stencil_compiler::{emit, pointwise};

use crate::bug;
use crate::linked::Linked;
use crate::span;

/// A function behind those that it calls.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let linked = match Linked::of(input) {
        Ok(linked) => linked,
        Err(error) => return error,
    };
    if let Some(call) = linked.next("pointwise_behind") {
        return call;
    }
    let item = Item::of(linked.rest());
    let mut functions = linked.functions();
    functions.extend(item.function.clone());
    compiled(&item, functions)
        .unwrap_or_else(|errors| span::compile_errors(&item.function, &errors))
}

/// The function as written: attributes and visibility are Rust's.
struct Item {
    attributes: TokenStream,
    visibility: TokenStream,
    function: TokenStream,
}

impl Item {
    fn of(input: TokenStream) -> Item {
        let mut item = Item {
            attributes: TokenStream::new(),
            visibility: TokenStream::new(),
            function: TokenStream::new(),
        };
        let mut trees = input.into_iter().peekable();
        while matches!(trees.peek(), Some(TokenTree::Punct(hash)) if hash.as_char() == '#') {
            item.attributes.extend(trees.by_ref().take(2));
        }
        if matches!(trees.peek(), Some(TokenTree::Ident(word)) if word == "pub") {
            item.visibility.extend(trees.next());
            if let Some(TokenTree::Group(_)) = trees.peek() {
                item.visibility.extend(trees.next());
            }
        }
        item.function = trees.collect();
        item
    }

    /// Can other crates call it?
    fn is_exported(&self) -> bool {
        self.visibility.to_string() == "pub"
    }
}

fn compiled(item: &Item, functions: TokenStream) -> Result<TokenStream, Diagnostics> {
    let function = pointwise::pointwise(functions.clone())?;
    let text = emit::pointwise(&function).map_err(|e| {
        Diagnostic::new(stencil_compiler::diag::Code::BadName, Default::default(), e.to_string())
    })?;
    let body: TokenStream = text.parse().map_err(|e: proc_macro2::LexError| bug(&e))?;
    let Item { attributes, visibility, .. } = item;
    let export = item.is_exported().then(|| quote! { #[macro_export] });
    let name = Ident::new(&function.name, Span::call_site());
    // Macros of other crates share one namespace.
    let unique = fnv1a(format!("{functions} {:?}", Span::call_site().start()).as_bytes());
    let hidden = Ident::new(&format!("__pointwise_{name}_{unique:016x}"), Span::call_site());
    Ok(quote! {
        #attributes
        #[allow(clippy::all, clippy::pedantic, unused_variables, reason = "generated")]
        #visibility #body

        #[doc(hidden)]
        #export
        macro_rules! #hidden {
            ([$($then:tt)*] [$($path:tt)*] { $($before:tt)* } $($rest:tt)*) => {
                $($then)* ! { $($before)* linked [$($path)*] { #functions } $($rest)* }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports, reason = "only systems use it")]
        #visibility use #hidden as #name;
    })
}
