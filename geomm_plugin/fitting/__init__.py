"""[fit] What methods share: edges and hubs, moments, held-out words, solvers, self-learning."""

from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of

if TYPE_CHECKING:
    from geomm_plugin.fitting.reranking import learn_reranking

__all__ = ["learn_reranking"]

__getattr__ = names_of(__name__, {"reranking": ("learn_reranking",)})
