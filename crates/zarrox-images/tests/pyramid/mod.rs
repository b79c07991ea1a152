//! Pyramid levels of images, and their description.

mod described;
mod interrupted;
mod naive;
mod validated;
mod values;
