"""What the server tells its operator of how it does: counts and times for Prometheus, and traces for OpenTelemetry."""
