//! Objects.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Index, IndexMut};

use indexmap::map;

use super::value::{Json, Map, NULL};

/// The number of members for which memory is allocated with the first parsed member.
const FEW: usize = 4;

impl Map {
    /// Creates an object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the object contains no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if there is a member with this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the value of a member.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// Returns a mutable reference to the value of a member.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.0.get_mut(name)
    }

    /// Returns a mutable reference to the value of a member. A missing member is added at the end, with the value that `make`
    /// returns.
    pub fn get_or_insert_with(&mut self, name: &str, make: impl FnOnce() -> Json) -> &mut Json {
        self.0.entry(name.to_owned()).or_insert_with(make)
    }

    /// Sets a member, and returns its previous value. An existing member keeps its position; a new member is added at the end.
    pub fn insert(&mut self, name: String, value: Json) -> Option<Json> {
        self.0.insert(name, value)
    }

    /// Adds a parsed member. Most objects have a few members: memory for them is allocated at once, since each growth of the hash
    /// table would place all members again.
    pub(super) fn add_parsed(&mut self, name: Cow<'_, str>, value: Json) {
        if self.0.is_empty() {
            self.0.reserve(FEW);
        }
        self.0.insert(name.into_owned(), value);
    }

    /// Removes a member, and returns its value. The other members keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.0.shift_remove(name)
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes the members for which `keep` returns false.
    pub fn retain(&mut self, keep: impl FnMut(&String, &mut Json) -> bool) {
        self.0.retain(keep);
    }

    /// Returns the members, in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.0.iter())
    }

    /// Returns the members in order, with mutable values.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        IterMut(self.0.iter_mut())
    }

    /// Returns the names, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &String> + ExactSizeIterator + Clone {
        self.0.keys()
    }

    /// Returns the values, in the order of the members.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Json> + ExactSizeIterator + Clone {
        self.0.values()
    }
}

/// Formats the map as an object: `{"units": String("K")}`.
impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// A missing member is null.
impl Index<&str> for Map {
    type Output = Json;

    fn index(&self, name: &str) -> &Json {
        self.get(name).unwrap_or(&NULL)
    }
}

/// A missing member is added as null.
impl IndexMut<&str> for Map {
    fn index_mut(&mut self, name: &str) -> &mut Json {
        self.get_or_insert_with(name, Json::default)
    }
}

impl<K: Into<String>, V: Into<Json>, const N: usize> From<[(K, V); N]> for Map {
    fn from(members: [(K, V); N]) -> Self {
        members.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }
}

impl From<Cow<'_, Self>> for Map {
    fn from(map: Cow<'_, Self>) -> Self {
        map.into_owned()
    }
}

impl From<&Self> for Map {
    fn from(map: &Self) -> Self {
        map.clone()
    }
}

impl FromIterator<(String, Json)> for Map {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl Extend<(String, Json)> for Map {
    fn extend<I: IntoIterator<Item = (String, Json)>>(&mut self, members: I) {
        self.0.extend(members);
    }
}

macro_rules! iterators {
    ($($(#[$doc:meta])* $Iter:ident $(<$a:lifetime>)?, $Map:ty, $Item:ty, $iter:ident;)*) => {$(
        $(#[$doc])*
        pub struct $Iter $(<$a>)? (map::$Iter<$($a,)? String, Json>);

        impl $(<$a>)? Iterator for $Iter $(<$a>)? {
            type Item = $Item;

            fn next(&mut self) -> Option<Self::Item> {
                self.0.next()
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }
        }

        impl $(<$a>)? DoubleEndedIterator for $Iter $(<$a>)? {
            fn next_back(&mut self) -> Option<Self::Item> {
                self.0.next_back()
            }
        }

        impl $(<$a>)? ExactSizeIterator for $Iter $(<$a>)? {}

        impl $(<$a>)? IntoIterator for $Map {
            type Item = $Item;
            type IntoIter = $Iter $(<$a>)?;

            fn into_iter(self) -> Self::IntoIter {
                $Iter(self.0.$iter())
            }
        }
    )*};
}

iterators! {
    /// The members of a [`Map`].
    #[derive(Debug, Clone)]
    Iter<'a>, &'a Map, (&'a String, &'a Json), iter;
    /// The members of a [`Map`], with mutable values.
    #[derive(Debug)]
    IterMut<'a>, &'a mut Map, (&'a String, &'a mut Json), iter_mut;
    /// The members of a [`Map`], by value.
    #[derive(Debug)]
    IntoIter, Map, (String, Json), into_iter;
}

#[cfg(test)]
mod tests {
    use super::super::json;
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let mut map = Map::from([("a", 2), ("c", 1), ("b", 3)]);
        assert_eq!(map.insert("c".to_owned(), "new".into()), Some(json!(1)));
        assert_eq!(map.remove("a"), Some(json!(2)));
        map.extend([("d".to_owned(), json!([1]))]);
        map.get_or_insert_with("e", || json!(5));
        assert_eq!(map.keys().collect::<Vec<_>>(), ["c", "b", "d", "e"]);
        assert_eq!(map.iter().rev().map(|(name, _)| name.as_str()).collect::<String>(), "edbc");
        map.iter_mut().for_each(|(_, value)| *value = value.take());
        map.retain(|name, _| name != "b");
        map["f"] = json!(null);
        assert_eq!(
            format!("{map:?}"),
            r#"{"c": String("new"), "d": Array([Number(Number(1))]), "e": Number(Number(5)), "f": Null}"#
        );
        assert_eq!(map, Map::from_iter(map.clone()));
        assert!(map["no"].is_null() && !map.contains_key("no") && map.len() == 4);
    }

    #[test]
    fn equality_does_not_depend_on_the_order() {
        assert_eq!(Map::from([("a", 1), ("b", 2)]), Map::from([("b", 2), ("a", 1)]));
        assert_ne!(Map::from([("a", 1)]), Map::from([("a", 2)]));
    }
}
