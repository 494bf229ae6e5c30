"""The fixtures and hooks of all tests."""

from fixtures import *  # noqa: F403
