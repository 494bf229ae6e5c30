"""What a server counts, for Prometheus. Labels are routes and statuses; they never contain text of requests."""

from __future__ import annotations

import logging

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import generate_latest

log = logging.getLogger("nestag.serve")
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        """Use a registry for each server, as a process may have several."""
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self.requests = Counter("nestag_requests", "Answers.", ["route", "status"], registry=registry)
        self.latency = Histogram(
            "nestag_request_seconds", "Time from arrival to answer.", ["route"], registry=registry, buckets=SECONDS
        )
        self.accepted = Gauge("nestag_requests_accepted", "Requests waiting for an answer.", registry=registry)
        self.connections = Gauge("nestag_connections", "Open connections.", registry=registry)
        self.batches = Histogram("nestag_batch_texts", "Texts in a batch.", registry=registry, buckets=SIZES)
        self.sentences = Counter("nestag_sentences", "Tagged sentences.", registry=registry)
        self.words = Counter("nestag_words", "Tagged words.", registry=registry)
        self.seconds = Counter("nestag_tagging_seconds", "Time in the engine.", registry=registry)
        self.failures = Counter("nestag_failures", "Texts that could not be tagged.", registry=registry)

    def tagged(self, texts: int, sentences: int, words: int, seconds: float) -> None:
        """Count a batch."""
        self.batches.observe(texts)
        self.sentences.inc(sentences)
        self.words.inc(words)
        self.seconds.inc(seconds)

    def failed(self, error: Exception) -> None:
        """Count a text that could not be tagged; only the type of the error is logged, as its message may hold text."""
        self.failures.inc()
        log.error("a text could not be tagged: %s", type(error).__name__)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.requests.labels(route, str(status)).inc()
        self.latency.labels(route).observe(seconds)

    def page(self) -> bytes:
        """Return all metrics as Prometheus reads them."""
        return generate_latest(self.registry)
