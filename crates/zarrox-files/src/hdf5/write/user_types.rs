//! User-defined NetCDF types, which are committed datatypes in HDF5: enumerations, structures, opaque bytes and complex numbers.

use zarrox::data_type::{Storage, Structure};
use zarrox::{DataType, Result};

use super::datatype::{self, Encoded};
use super::options::Convention;

/// A committed datatype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UserType {
    /// The path of the group that contains the type.
    pub(super) group: String,
    pub(super) name: String,
    pub(super) encoded: Encoded,
}

/// The committed datatypes of a file. Each type follows the types that it consists of.
#[derive(Debug, Default)]
pub(super) struct UserTypes {
    pub(super) all: Vec<UserType>,
    /// The requested type names.
    wanted: Vec<(Encoded, String)>,
}

impl UserTypes {
    /// Requests a name for a type, which also applies when the type is used within another type.
    pub(super) fn want(&mut self, encoded: &Encoded, name: &str) {
        if !self.wanted.iter().any(|(known, _)| known == encoded) {
            self.wanted.push((encoded.clone(), name.to_owned()));
        }
    }

    /// Returns the index of a type, and adds the type if it is new. `name` is the preferred name; `is_taken` returns true
    /// for names that are already used by links of the group.
    pub(super) fn add(
        &mut self,
        group: &str,
        name: &str,
        encoded: &Encoded,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> usize {
        let mut found = name.to_owned();
        for number in 2.. {
            let same = self.all.iter().position(|known| known.group == group && known.name == found);
            match same {
                Some(same) if self.all[same].encoded == *encoded => return same,
                None if !is_taken(&found) => break,
                _ => found = format!("{name}_{number}"),
            }
        }
        self.all.push(UserType { group: group.to_owned(), name: found, encoded: encoded.clone() });
        self.all.len() - 1
    }

    /// Returns the index of an element type; `None` for a built-in NetCDF type. The types of its fields are added before it.
    pub(super) fn add_elements(
        &mut self,
        group: &str,
        name: &str,
        data_type: &DataType,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> Result<Option<usize>> {
        let usual = match data_type.storage() {
            Storage::Complex(8) => "_PFNC_FLOAT_COMPLEX_TYPE",
            Storage::Complex(_) => "_PFNC_DOUBLE_COMPLEX_TYPE",
            _ => name,
        };
        match data_type {
            DataType::Struct(structure) => self.add_fields(group, name, structure, is_taken)?,
            DataType::RawBits(_) | DataType::Complex64 | DataType::Complex128 => {}
            _ => return Ok(None),
        }
        let encoded = datatype::of_fixed(data_type, Convention::NetCdf)?;
        Ok(Some(self.add(group, usual, &encoded, is_taken)))
    }

    fn add_fields(
        &mut self,
        group: &str,
        name: &str,
        structure: &Structure,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> Result<()> {
        for field in structure.fields() {
            let encoded = datatype::of_fixed(&field.data_type, Convention::NetCdf)?;
            let wanted = self.wanted.iter().find(|(known, _)| *known == encoded);
            let name = wanted.map_or_else(|| format!("{name}_{}", field.name), |(_, name)| name.clone());
            self.add_elements(group, &name, &field.data_type, is_taken)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_types_are_one_and_names_are_unique() {
        let mut types = UserTypes::default();
        let taken = |name: &str| name == "v_t";
        let (a, b) = (datatype::integer(1, true), datatype::integer(2, true));
        assert_eq!(types.add("", "t", &a, &taken), 0);
        assert_eq!(types.add("", "t", &a, &taken), 0);
        assert_eq!(types.add("", "t", &b, &taken), 1);
        assert_eq!(types.add("", "v_t", &a, &taken), 2);
        assert_eq!(types.add("g", "t", &a, &taken), 3);
        let names: Vec<&str> = types.all.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["t", "t_2", "v_t_2", "t"]);
    }
}
