"""For authors of plugins, and for us: the contracts as tests, toy languages, pytest fixtures."""

from geomm_plugin.testing.feature_contract import check_feature
from geomm_plugin.testing.format_contract import check_format
from geomm_plugin.testing.mapper_contract import check_mapper
from geomm_plugin.testing.plugin_check import check_plugin
from geomm_plugin.testing.retrieval_contract import check_retrieval
from geomm_plugin.testing.seed_contract import check_seed
from geomm_plugin.testing.task_contract import check_task
from geomm_plugin.testing.toys import Toy, make_toy

__all__ = [
    "Toy",
    "check_feature",
    "check_format",
    "check_mapper",
    "check_plugin",
    "check_retrieval",
    "check_seed",
    "check_task",
    "make_toy",
]
