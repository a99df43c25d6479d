"""Studies to learn from: `icu`, simulated, and `physionet2012`, read from files of your own."""

from . import icu, physionet2012

__all__ = ["icu", "physionet2012"]
