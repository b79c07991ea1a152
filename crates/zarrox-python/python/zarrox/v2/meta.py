"""Version 2 documents, under the module name of zarr-python 2."""

from zarrox.meta import *  # noqa: F403
from zarrox.meta import __all__ as __all__
from zarrox.documents import json_dumps as json_dumps
from zarrox.documents import json_loads as json_loads
