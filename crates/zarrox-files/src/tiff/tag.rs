//! The tag numbers.

/// Tags that describe the meaning and georeferencing of elements, and are not needed to read the elements.
pub(super) const DESCRIBING: [u16; 17] = [
    DESCRIPTION,
    X_RESOLUTION,
    Y_RESOLUTION,
    RESOLUTION_UNIT,
    COLORMAP,
    PIXEL_SCALE,
    STACK_PLANES,
    TIE_POINTS,
    TRANSFORMATION,
    GEO_KEYS,
    GEO_FLOATS,
    GEO_TEXTS,
    GDAL_METADATA,
    NO_DATA,
    IMAGEJ_COUNTS,
    IMAGEJ_METADATA,
    CAMERA,
];

pub(super) const SUBFILE: u16 = 254;
pub(super) const WIDTH: u16 = 256;
pub(super) const HEIGHT: u16 = 257;
pub(super) const BITS: u16 = 258;
pub(super) const COMPRESSION: u16 = 259;
pub(super) const PHOTOMETRIC: u16 = 262;
pub(super) const FILL_ORDER: u16 = 266;
pub(super) const DESCRIPTION: u16 = 270;
pub(super) const STRIP_OFFSETS: u16 = 273;
pub(super) const SAMPLES: u16 = 277;
pub(super) const STRIP_ROWS: u16 = 278;
pub(super) const STRIP_SIZES: u16 = 279;
pub(super) const X_RESOLUTION: u16 = 282;
pub(super) const Y_RESOLUTION: u16 = 283;
pub(super) const PLANAR: u16 = 284;
pub(super) const T4_OPTIONS: u16 = 292;
pub(super) const RESOLUTION_UNIT: u16 = 296;
pub(super) const PREDICTOR: u16 = 317;
pub(super) const COLORMAP: u16 = 320;
pub(super) const TILE_WIDTH: u16 = 322;
pub(super) const TILE_HEIGHT: u16 = 323;
pub(super) const TILE_OFFSETS: u16 = 324;
pub(super) const TILE_SIZES: u16 = 325;
pub(super) const SUB_DIRECTORIES: u16 = 330;
pub(super) const FORMAT: u16 = 339;
pub(super) const JPEG_TABLES: u16 = 347;
pub(super) const SUBSAMPLING: u16 = 530;
pub(super) const DEPTH: u16 = 32997;
pub(super) const TILE_DEPTH: u16 = 32998;
pub(super) const PIXEL_SCALE: u16 = 33550;
/// MetaMorph planes. The number of values is the number of planes.
pub(super) const STACK_PLANES: u16 = 33629;
pub(super) const TIE_POINTS: u16 = 33922;
pub(super) const TRANSFORMATION: u16 = 34264;
pub(super) const GEO_KEYS: u16 = 34735;
pub(super) const GEO_FLOATS: u16 = 34736;
pub(super) const GEO_TEXTS: u16 = 34737;
pub(super) const GDAL_METADATA: u16 = 42112;
pub(super) const NO_DATA: u16 = 42113;
pub(super) const IMAGEJ_COUNTS: u16 = 50838;
pub(super) const IMAGEJ_METADATA: u16 = 50839;
pub(super) const LERC: u16 = 50674;
/// The rational polynomial coefficients of a camera.
pub(super) const CAMERA: u16 = 50844;
