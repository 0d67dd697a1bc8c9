package httpapi

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolmark/toolmark"
)

// metrics are the service's counters, in a registry of their own. Labels are routes,
// methods, statuses, codes and severities: nothing that a client can make up.
type metrics struct {
	registry *prometheus.Registry
	handler  func(x *exchange) error

	inFlight    prometheus.Gauge
	requests    *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	scans       *prometheus.CounterVec
	scanSeconds prometheus.Histogram
	findings    *prometheus.CounterVec
}

func newMetrics(version string, more []prometheus.Collector) (*metrics, error) {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "toolmark_http_requests_in_flight", Help: "Requests being answered.",
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolmark_http_requests_total", Help: "Requests answered, by route, method and status; 499 is a client that left.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "toolmark_http_request_seconds", Help: "Time to answer a request.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route"}),
		scans: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolmark_scans_total", Help: "Scans that ran, by result: ok, not_ok, incomplete.",
		}, []string{"result"}),
		scanSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "toolmark_scan_seconds", Help: "Time of a scan, without waiting for its turn.",
			Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1},
		}),
		findings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolmark_findings_total", Help: "Findings reported, by code and severity.",
		}, []string{"code", "severity"}),
	}
	if version == "" {
		version = "unknown"
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "toolmark_build_info", Help: "1; the label says which version runs.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(m.inFlight, m.requests, m.seconds, m.scans, m.scanSeconds, m.findings, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, c := range more {
		if err := m.registry.Register(c); err != nil {
			return nil, fmt.Errorf("httpapi: metrics: %w", err)
		}
	}
	handler := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	m.handler = func(x *exchange) error {
		handler.ServeHTTP(x, x.r)
		return nil
	}
	return m, nil
}

func (m *metrics) serve(x *exchange) error { return m.handler(x) }

// scanned counts a scan that ran.
func (m *metrics) scanned(report *toolmark.Report, seconds float64) {
	result := "ok"
	switch {
	case report.Incomplete:
		result = "incomplete"
	case !report.OK:
		result = "not_ok"
	}
	m.scans.WithLabelValues(result).Inc()
	m.scanSeconds.Observe(seconds)
	for i := range report.Findings {
		f := &report.Findings[i]
		m.findings.WithLabelValues(string(f.Code), f.Severity.String()).Inc()
	}
}
