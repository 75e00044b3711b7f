//! Functions that are defined elsewhere: `use path::name;` asks the macro that `#[pointwise]` leaves at that path for the tokens
//! of the function, which come back as `linked [path] { fn name(..) -> .. { .. } }` before the rest of the input. With `as other` behind the
//! path, which comes back with it, the function gets another name here.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

/// The input of a macro, taken apart.
pub(crate) struct Linked {
    /// Functions that are here, each behind the functions that it calls.
    functions: Vec<TokenStream>,
    /// The same functions as groups of the input.
    groups: TokenStream,
    /// Paths of functions that are not here yet, with the names that they get.
    paths: Vec<TokenStream>,
    rest: TokenStream,
}

impl Linked {
    /// Takes an input apart.
    ///
    /// # Errors
    /// A `compile_error!` at a `use` that is malformed.
    pub(crate) fn of(input: TokenStream) -> Result<Linked, TokenStream> {
        let trees: Vec<TokenTree> = input.into_iter().collect();
        let mut linked = Linked {
            functions: Vec::new(),
            groups: TokenStream::new(),
            paths: Vec::new(),
            rest: TokenStream::new(),
        };
        let mut rest = &trees[..];
        loop {
            match rest {
                [TokenTree::Ident(word), TokenTree::Group(path), TokenTree::Group(body), ..]
                    if word == "linked" =>
                {
                    linked.groups.extend(rest[..3].iter().cloned());
                    linked.add(&path.stream(), body.stream());
                    rest = &rest[3..];
                }
                [TokenTree::Ident(word), ..] if word == "use" => {
                    let is_end = |tree: &TokenTree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ';');
                    let Some(end) = rest.iter().position(is_end) else {
                        return Err(error(word.span(), "expected `use path::name;`"));
                    };
                    linked.paths.extend(paths(&rest[1..end], word.span())?);
                    rest = &rest[end + 1..];
                }
                _ => break,
            }
        }
        linked.rest = rest.iter().cloned().collect();
        Ok(linked)
    }

    /// Adds functions, each of them once. Their places are in another file: errors in them point at the path.
    fn add(&mut self, path: &TokenStream, functions: TokenStream) {
        let span = path.clone().into_iter().next().map_or_else(Span::call_site, |t| t.span());
        let is_end = |tree: &TokenTree| matches!(tree, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace);
        let trees: Vec<TokenTree> = functions.into_iter().map(|tree| placed(tree, span)).collect();
        let mut all: Vec<Vec<TokenTree>> =
            trees.split_inclusive(is_end).map(<[_]>::to_vec).collect();
        // Functions that it calls are before it.
        let own = all.last_mut().and_then(|function| function.get_mut(1));
        if let (Some(name), Some(other)) = (own, path_and_name(path).1) {
            *name = other.into();
        }
        for function in all {
            let function: TokenStream = function.into_iter().collect();
            let text = function.to_string();
            if self.functions.iter().all(|known| known.to_string() != text) {
                self.functions.push(function);
            }
        }
    }

    /// Returns, if a function is not here yet, the call that brings it and continues with the macro of this name.
    pub(crate) fn next(&self, then: &str) -> Option<TokenStream> {
        let (path, others) = self.paths.split_first()?;
        let then = Ident::new(then, Span::call_site());
        let (groups, rest) = (&self.groups, &self.rest);
        let (of, _) = path_and_name(path);
        Some(quote! {
            #of ! { [::stencil_runtime::#then] [#path] { #groups } #(use #others;)* #rest }
        })
    }

    /// Returns the functions that are here.
    pub(crate) fn functions(&self) -> TokenStream {
        self.functions.iter().cloned().collect()
    }

    /// Returns the input without linked functions.
    pub(crate) fn rest(&self) -> TokenStream {
        self.rest.clone()
    }

    /// Returns all of it.
    pub(crate) fn all(&self) -> TokenStream {
        let mut all = self.functions();
        all.extend(self.rest());
        all
    }
}

/// Returns an item behind a `use` of each path of a list.
pub(crate) fn uses(paths: TokenStream, item: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    if !paths.is_empty() {
        out.extend(quote! { use { #paths }; });
    }
    out.extend(item);
    out
}

/// Returns the part of a path before `as`, and the name behind it.
fn path_and_name(path: &TokenStream) -> (TokenStream, Option<Ident>) {
    let trees: Vec<TokenTree> = path.clone().into_iter().collect();
    match &trees[..] {
        [of @ .., TokenTree::Ident(word), TokenTree::Ident(name)] if word == "as" => {
            (of.iter().cloned().collect(), Some(name.clone()))
        }
        _ => (path.clone(), None),
    }
}

/// Returns the paths of `a::b`, `a::b as c`, `a::{b, c}` or `{a::b, c}`.
fn paths(trees: &[TokenTree], span: Span) -> Result<Vec<TokenStream>, TokenStream> {
    if let [before @ .., TokenTree::Group(group)] = trees
        && group.delimiter() == Delimiter::Brace
    {
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ',');
        let names = inner.split(is_comma).filter(|name| !name.is_empty());
        let each = names.map(|name| paths(&[before, name].concat(), span));
        return each.collect::<Result<Vec<_>, _>>().map(|all| all.concat());
    }
    let is_of_path = |tree: &TokenTree| match tree {
        TokenTree::Ident(word) => word != "as",
        TokenTree::Punct(punct) => punct.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    };
    let whole: TokenStream = trees.iter().cloned().collect();
    let (of, _) = path_and_name(&whole);
    if let Some(other) = of.clone().into_iter().find(|tree| !is_of_path(tree)) {
        let message = "functions are linked one by one: `use path::name;`, `use path::name as other;` or `use path::{a, b};`";
        return Err(error(other.span(), message));
    }
    match of.is_empty() {
        true => Err(error(span, "expected the path of a function")),
        false => Ok(vec![whole]),
    }
}

fn error(span: Span, message: &str) -> TokenStream {
    quote::quote_spanned! { span => ::core::compile_error! { #message } }
}

/// Returns the token at another place.
fn placed(tree: TokenTree, span: Span) -> TokenTree {
    match tree {
        TokenTree::Group(group) => {
            let inner = group.stream().into_iter().map(|tree| placed(tree, span));
            let mut out = Group::new(group.delimiter(), inner.collect());
            out.set_span(span);
            out.into()
        }
        mut other @ (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => {
            other.set_span(span);
            other
        }
    }
}
