"""Traces of requests, by OpenTelemetry, sent to a collector over HTTP. Without one nothing of it is even imported."""

from __future__ import annotations

from typing import Any, Protocol

from headwater.server.http import Request


class Span(Protocol):
    """One request in a trace."""

    def end(self, request: Request, status: int) -> None:
        """The request was answered."""


class Tracer(Protocol):
    """Begins spans, and sends them when they have ended."""

    def begin(self, request: Request) -> Span:
        """A span for *request*, below the one that its client says it is part of, if any."""

    def close(self) -> None:
        """Send what has not been sent."""


def tracer_to(endpoint: str, version: str) -> Tracer:
    """What sends traces to the collector at *endpoint*, as `http://127.0.0.1:4318`."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({"service.name": "headwater", "service.version": version}))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return _Tracer(provider)


class _Tracer:
    def __init__(self, provider: Any) -> None:
        from opentelemetry import trace  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        self._provider = provider
        self._tracer = provider.get_tracer("headwater.server")
        self._propagator = TraceContextTextMapPropagator()
        self._server = trace.SpanKind.SERVER

    def begin(self, request: Request) -> Span:
        context = self._propagator.extract(request.headers) if "traceparent" in request.headers else None
        return _Span(self._tracer.start_span(request.method, context=context, kind=self._server))

    def close(self) -> None:
        self._provider.shutdown()


class _Span:
    def __init__(self, span: Any) -> None:
        self._span = span

    def end(self, request: Request, status: int) -> None:
        """Neither the query nor headers are told: they may hold secrets."""
        span = self._span
        span.update_name(request.operation or request.method)
        span.set_attributes(
            {
                "http.request.method": request.method,
                "url.path": request.raw_path,
                "http.response.status_code": status,
                "client.address": request.client,
                "user.name": request.user,
                "headwater.request_id": request.id,
            }
        )
        if status >= 500:
            from opentelemetry.trace import StatusCode  # noqa: PLC0415

            span.set_status(StatusCode.ERROR)
        span.end()
