"""Data types, under the module name of zarr-python 3.

See :mod:`zarrox.core.dtype`.
"""

from .core.dtype import *  # noqa: F403
from .core.dtype import __all__ as __all__
from .core.dtype.common import (  # noqa: F401
    DTypeSpec_V2,
    check_dtype_spec_no_object_codec_v2,
    check_dtype_spec_v2,
)
