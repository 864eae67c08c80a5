package io.fairgate.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A collector that takes OTLP over HTTP and keeps the spans, on loopback. Its threads end with the JVM. */
final class TraceCollector implements AutoCloseable {

    private final HttpServer server;
    private final Queue<Span> spans = new ConcurrentLinkedQueue<>();
    private final Queue<String> services = new ConcurrentLinkedQueue<>();

    TraceCollector() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server.createContext("/v1/traces", this::take);
        server.start();
    }

    private void take(HttpExchange exchange) throws IOException {
        try (exchange;
                InputStream body = exchange.getRequestBody()) {
            for (ResourceSpans resource :
                    ExportTraceServiceRequest.parseFrom(body).getResourceSpansList()) {
                resource.getResource().getAttributesList().stream()
                        .filter(attribute -> attribute.getKey().equals("service.name"))
                        .forEach(name -> services.add(name.getValue().getStringValue()));
                resource.getScopeSpansList().forEach(scope -> spans.addAll(scope.getSpansList()));
            }
            exchange.sendResponseHeaders(200, -1);
        }
    }

    String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces";
    }

    List<Span> spans() {
        return List.copyOf(spans);
    }

    List<String> services() {
        return List.copyOf(services);
    }

    void clear() {
        spans.clear();
        services.clear();
    }

    /** The first span with this name. */
    Span span(String name) {
        return spans.stream()
                .filter(span -> span.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError(
                        name + " is not in " + spans.stream().map(Span::getName).toList()));
    }

    static String hex(com.google.protobuf.ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    /** The value of an attribute as text; empty when it is missing. */
    static String attribute(Span span, String key) {
        return span.getAttributesList().stream()
                .filter(attribute -> attribute.getKey().equals(key))
                .map(KeyValue::getValue)
                .map(value -> value.hasIntValue() ? String.valueOf(value.getIntValue()) : value.getStringValue())
                .findFirst()
                .orElse("");
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
