//! Templates in references: `{{…}}` in a string, with names, integers and arithmetic.
//!
//! Kerchunk's specification requires Jinja here. This module supports the features that its examples use: names, calls of
//! templates with arguments, and integers with `+ - * // %` and parentheses. Anything else is an error, and is never copied as
//! literal text. The crate `minijinja` is not used, since references can be untrusted, and its loops and filters would allow them
//! to take unlimited time and memory.

use std::collections::BTreeMap;

/// The maximum length of a rendered template.
const LONGEST: usize = 1 << 16;
/// The maximum nesting depth of parentheses.
const DEEPEST: usize = 32;

/// The value of a name in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
}

/// The names that a template can use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub(super) templates: &'a BTreeMap<String, String>,
    pub(super) variables: &'a BTreeMap<String, Value>,
}

/// Renders `{{…}}` in a string.
pub(super) fn render(text: &str, scope: Scope<'_>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        plain(before, &mut out)?;
        let (expression, behind) =
            behind.split_once("}}").ok_or("a template begins with '{{' and does not end with '}}'")?;
        match evaluate(expression, scope)? {
            Value::Text(text) => push(&text, &mut out)?,
            Value::Integer(number) => push(&number.to_string(), &mut out)?,
        }
        rest = behind;
    }
    plain(rest, &mut out)?;
    Ok(out)
}

fn plain(text: &str, out: &mut String) -> Result<(), String> {
    if text.contains("{%") || text.contains("{#") {
        return Err("a template has a statement or a comment of Jinja; only '{{…}}' is supported".into());
    }
    push(text, out)
}

fn push(text: &str, out: &mut String) -> Result<(), String> {
    if out.len() + text.len() > LONGEST {
        return Err(format!("a template becomes longer than {LONGEST} bytes"));
    }
    out.push_str(text);
    Ok(())
}

fn evaluate(expression: &str, scope: Scope<'_>) -> Result<Value, String> {
    let tokens = tokens(expression)?;
    let mut parser = Parser { tokens: &tokens, scope, depth: 0 };
    let value = parser.sum()?;
    match parser.tokens.first() {
        None => Ok(value),
        Some(token) => Err(unexpected(token)),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Integer(i64),
    Sign(&'static str),
}

/// The operators and punctuation of templates. If one is a prefix of another, the longer one comes first.
const SIGNS: [&str; 9] = ["//", "+", "-", "*", "%", "(", ")", "=", ","];

fn tokens(mut rest: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let (token, behind) = match first {
            '0'..='9' => {
                let (digits, behind) = split_while(rest, |c| c.is_ascii_digit());
                let number = digits.parse().map_err(|_| "a template has a number beyond 64 bits")?;
                (Token::Integer(number), behind)
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let (name, behind) = split_while(rest, |c| c.is_ascii_alphanumeric() || c == '_');
                (Token::Name(name.to_owned()), behind)
            }
            '\'' | '"' => {
                let (text, behind) =
                    rest[1..].split_once(first).ok_or("a text in a template has no closing quote")?;
                if text.contains('\\') {
                    return Err("a text in a template has a backslash, which is not supported".into());
                }
                (Token::Text(text.to_owned()), behind)
            }
            _ => {
                let found = SIGNS.into_iter().find_map(|sign| Some((sign, rest.strip_prefix(sign)?)));
                let (sign, behind) = found.ok_or_else(|| {
                    format!("a template has '{first}'; only names, integers and + - * // % ( ) are supported")
                })?;
                (Token::Sign(sign), behind)
            }
        };
        tokens.push(token);
        rest = behind;
    }
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !keep(c)).unwrap_or(text.len()))
}

fn unexpected(token: &Token) -> String {
    match token {
        Token::Name(name) => format!("a template has '{name}' in an unexpected place"),
        Token::Text(_) => "a template has a text in an unexpected place".into(),
        Token::Integer(number) => format!("a template has {number} in an unexpected place"),
        Token::Sign(sign) => format!("a template has '{sign}' in an unexpected place"),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    scope: Scope<'a>,
    depth: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Result<Token, String> {
        let (first, rest) = self.tokens.split_first().ok_or("a template ends inside of an expression")?;
        self.tokens = rest;
        Ok(first.clone())
    }

    /// Consumes the next token if it is one of these operators.
    fn take(&mut self, signs: &[&str]) -> Option<&'static str> {
        let (Token::Sign(sign), rest) = self.tokens.split_first()? else { return None };
        signs.contains(sign).then(|| {
            self.tokens = rest;
            *sign
        })
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        self.take(&[sign]).map(drop).ok_or_else(|| format!("a template lacks a '{sign}'"))
    }

    fn sum(&mut self) -> Result<Value, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&["+", "-"]) {
            value = calculate(&value, sign, &self.product()?)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut value = self.factor()?;
        while let Some(sign) = self.take(&["*", "//", "%"]) {
            value = calculate(&value, sign, &self.factor()?)?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("a template is nested more than {DEEPEST} deep"));
        }
        let value = match self.next()? {
            Token::Integer(number) => Value::Integer(number),
            Token::Text(text) => Value::Text(text),
            Token::Sign("-") => calculate(&Value::Integer(0), "-", &self.factor()?)?,
            Token::Sign("(") => {
                let value = self.sum()?;
                self.expect(")")?;
                value
            }
            Token::Name(name) if self.take(&["("]).is_some() => self.call(&name)?,
            Token::Name(name) => self.named(&name)?,
            token @ Token::Sign(_) => return Err(unexpected(&token)),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn named(&self, name: &str) -> Result<Value, String> {
        if let Some(value) = self.scope.variables.get(name) {
            return Ok(value.clone());
        }
        match self.scope.templates.get(name) {
            Some(text) if text.contains("{{") => {
                Err(format!("the template '{name}' requires arguments: {name}(argument='text')"))
            }
            Some(text) => Ok(Value::Text(text.clone())),
            None => Err(format!("unknown template or dimension '{name}'")),
        }
    }

    /// Calls a template with arguments. They are the only names that the template can use.
    fn call(&mut self, name: &str) -> Result<Value, String> {
        let mut arguments = BTreeMap::new();
        while self.take(&[")"]).is_none() {
            let Token::Name(argument) = self.next()? else {
                return Err(format!("the arguments of the template '{name}' must have names"));
            };
            self.expect("=")?;
            arguments.insert(argument, self.sum()?);
            if self.take(&[","]).is_none() {
                self.expect(")")?;
                break;
            }
        }
        let text = self.scope.templates.get(name).ok_or_else(|| format!("unknown template '{name}'"))?;
        let scope = Scope { templates: &BTreeMap::new(), variables: &arguments };
        render(text, scope).map(Value::Text)
    }
}

/// Evaluates an operator as in Python: quotients are rounded down.
fn calculate(left: &Value, sign: &str, right: &Value) -> Result<Value, String> {
    let (&Value::Integer(a), &Value::Integer(b)) = (left, right) else {
        return Err(format!("a template calculates ('{sign}') with a text; only integers are supported"));
    };
    let result = match sign {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "//" => floor_divided(a, b),
        _ => floor_divided(a, b).and_then(|quotient| a.checked_sub(quotient.checked_mul(b)?)),
    };
    let failed = || format!("a template calculates {a} {sign} {b}, which has no result within 64 bits");
    result.map(Value::Integer).ok_or_else(failed)
}

fn floor_divided(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let inexact = a % b != 0;
    Some(if inexact && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> Result<String, String> {
        let templates = [("u", "server/path"), ("f", "<{{c}}>"), ("g", "{{a + b}}")];
        let templates =
            templates.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        let variables = BTreeMap::from([
            ("i".to_owned(), Value::Integer(4)),
            ("d".to_owned(), Value::Text("day".to_owned())),
        ]);
        render(text, Scope { templates: &templates, variables: &variables })
    }

    #[test]
    fn names_and_arithmetic() {
        for (text, expected) in [
            ("", ""),
            ("http://{{u}}_{{ i }}/{{d}}", "http://server/path_4/day"),
            ("{{(i + 1) * 1000}}", "5000"),
            ("{{i-1-1}} {{-i // 3}} {{-7 % 3}} {{7 % -3}}", "2 -2 2 -2"),
            ("{{f(c='text')}}{{g(a=1, b=i)}}", "<text>5"),
            ("{a} }} {", "{a} }} {"),
        ] {
            assert_eq!(rendered(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn all_else_is_refused_with_words() {
        for (text, word) in [
            ("{{u", "does not end"),
            ("{{}}", "inside of an expression"),
            ("{{v}}", "'v'"),
            ("{{f}}", "requires arguments"),
            ("{{f()}}", "'c'"),
            ("{{f('text')}}", "must have names"),
            ("{{i | upper}}", "'|'"),
            ("{{i / 2}}", "'/'"),
            ("{{1.5}}", "'.'"),
            ("{{u + 1}}", "text"),
            ("{{1 // 0}}", "no result"),
            ("{{9223372036854775807 + 1}}", "no result"),
            ("{{9223372036854775808}}", "64 bits"),
            ("{{(1}}", "lacks a ')'"),
            ("{{i i}}", "unexpected place"),
            ("{% for x in y %}", "Jinja"),
            ("{{'a\\'b'}}", "backslash"),
        ] {
            let error = rendered(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
        let deep = format!("{{{{{}1{}}}}}", "(".repeat(1000), ")".repeat(1000));
        assert!(rendered(&deep).unwrap_err().contains("nested more than"), "nesting");
        let long = format!("{{{{f(c='{}')}}}}", "x".repeat(LONGEST));
        assert!(rendered(&long).unwrap_err().contains("longer"), "length");
    }
}
