"""Numbers of several workers as one page for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from headwater.server.telemetry.sharing import Snapshot
from headwater.server.telemetry.tally import BOUNDS, Labels

HELP = {
    "api_requests_total": "Requests to the API, by status and method",
    "api_request_duration_seconds": "How long requests to the API took, by operation and status",
    "gateway_request_duration_seconds": "How long S3 requests took, by operation and status",
    "page_request_duration_seconds": "How long requests for pages took, by status",
    "lakefs_concurrent_requests": "Requests that are being worked on",
    "kv_request_duration_seconds": "How long calls of the key-value store took, by operation",
    "graveler_branch_reads_total": "Reads of a branch's record, to answer an operation",
    "graveler_staging_read_attempts_total": "Looks into what is staged on a branch",
    "headwater_segment_cache_hits_total": "Segments of the index that were in the cache",
    "headwater_segment_cache_misses_total": "Segments of the index that had to be fetched",
    "headwater_requests_refused_total": "Requests that a limit refused",
    "headwater_worker_resident_bytes": "Memory of a worker",
    "headwater_workers": "Workers that answer",
}
_LAST = "+Inf"


def page_of(snapshots: Sequence[Snapshot]) -> bytes:
    """The sums of *snapshots* in the text format of Prometheus."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(snapshots))
    return generate_latest(registry)


class _Collector:
    """What a registry asks."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._snapshots = snapshots

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        yield from _counters(self._snapshots)
        yield from _histograms(self._snapshots)
        yield from _gauges(self._snapshots)


def _counters(snapshots: Sequence[Snapshot]) -> Iterator[Metric]:
    sums: dict[str, dict[Labels, int]] = {}
    for snapshot in snapshots:
        for each in snapshot.counts:
            series = sums.setdefault(each.name, {})
            series[each.labels] = series.get(each.labels, 0) + each.value
    for name, series in sorted(sums.items()):
        family = CounterMetricFamily(name.removesuffix("_total"), _help(name), labels=_names(series))
        for labels, value in series.items():
            family.add_metric([text for _, text in labels], value)
        yield family


def _histograms(snapshots: Sequence[Snapshot]) -> Iterator[Metric]:
    sums: dict[str, dict[Labels, tuple[list[int], float]]] = {}
    for snapshot in snapshots:
        for each in snapshot.times:
            series = sums.setdefault(each.name, {})
            buckets, total = series.get(each.labels, ([0] * (len(BOUNDS) + 1), 0.0))
            series[each.labels] = [a + b for a, b in zip(buckets, each.buckets, strict=True)], total + each.total
    for name, series in sorted(sums.items()):
        family = HistogramMetricFamily(name, _help(name), labels=_names(series))
        for labels, (buckets, total) in series.items():
            if any(buckets):
                family.add_metric([text for _, text in labels], _cumulative(buckets), total)
        yield family


def _gauges(snapshots: Sequence[Snapshot]) -> Iterator[Metric]:
    sums: dict[str, dict[Labels, float]] = {}
    for snapshot in snapshots:
        for each in snapshot.gauges:
            series = sums.setdefault(each.name, {})
            series[each.labels] = series.get(each.labels, 0.0) + each.value
    for name, series in sorted(sums.items()):
        family = GaugeMetricFamily(name, _help(name), labels=_names(series))
        for labels, value in series.items():
            family.add_metric([text for _, text in labels], value)
        yield family


def _cumulative(buckets: Sequence[int]) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    seen = 0
    for bound, count in zip((*map(str, BOUNDS), _LAST), buckets, strict=True):
        seen += count
        found.append((bound, seen))
    return found


def _names(series: Iterable[Labels]) -> list[str]:
    return [name for name, _ in next(iter(series))]


def _help(name: str) -> str:
    return HELP.get(name, "How long calls of the object store took, by operation and outcome")
