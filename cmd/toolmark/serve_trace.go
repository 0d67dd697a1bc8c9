package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// openTraces gives traces where the standard variables ask for them: an endpoint in
// OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, or
// OTEL_TRACES_EXPORTER=otlp. They are sent as OTLP over HTTP (http/protobuf). flush
// sends what is left.
func openTraces(ctx context.Context, getenv func(string) string, log *slog.Logger) (provider trace.TracerProvider, flush func() error, err error) {
	none := func() error { return nil }
	exporter := getenv("OTEL_TRACES_EXPORTER")
	asked := getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || exporter == "otlp"
	if !asked || exporter == "none" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, none, nil
	}
	if exporter != "" && exporter != "otlp" {
		return nil, none, usage("OTEL_TRACES_EXPORTER is otlp or none")
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := getenv(name); protocol != "" && protocol != "http/protobuf" {
			return nil, none, usage("%s: traces are sent as http/protobuf only", name)
		}
	}
	client, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, none, fmt.Errorf("set up traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "toolmark"), attribute.String("service.version", version())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, none, fmt.Errorf("set up traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are not delivered", "error", err) }))
	sdk := sdktrace.NewTracerProvider(sdktrace.WithBatcher(client), sdktrace.WithResource(about))
	return sdk, func() error {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := sdk.Shutdown(ending); err != nil {
			log.Warn("the last traces are not delivered", "error", err)
		}
		return nil
	}, nil
}
