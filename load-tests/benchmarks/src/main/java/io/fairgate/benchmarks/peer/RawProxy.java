package io.fairgate.benchmarks.peer;

import io.fairgate.benchmarks.process.ParentProcess;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Iterator;
import java.util.Map.Entry;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** A reverse proxy in Reactor Netty without a framework: the least that a gateway on Reactor Netty can cost. */
public final class RawProxy {

    /** More than the load has, so that no request waits for a connection to the upstream. */
    private static final int CONNECTIONS = 10_000;

    private RawProxy() {}

    /**
     * Runs until it is killed, or its parent process has ended.
     *
     * @param args the port of the upstream
     */
    public static void main(String[] args) {
        ParentProcess.endWithIt();
        HttpClient client = HttpClient.create(ConnectionProvider.create("proxy", CONNECTIONS))
                .baseUrl("http://127.0.0.1:" + args[0]);
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> client.headers(headers -> copy(request.requestHeaders(), headers))
                        .request(request.method())
                        .uri(request.uri())
                        .send(request.receive().retain())
                        .responseConnection((answer, connection) -> {
                            response.status(answer.status());
                            copy(answer.responseHeaders(), response.responseHeaders());
                            return response.send(connection.inbound().receive().retain());
                        }))
                .bindNow();
        System.out.println("port " + server.port());
        server.onDispose().block();
    }

    private static void copy(HttpHeaders from, HttpHeaders to) {
        Iterator<Entry<CharSequence, CharSequence>> headers = from.iteratorCharSequence();
        while (headers.hasNext()) {
            Entry<CharSequence, CharSequence> header = headers.next();
            if (!HttpHeaderNames.HOST.contentEqualsIgnoreCase(header.getKey())
                    && !HttpHeaderNames.CONNECTION.contentEqualsIgnoreCase(header.getKey())) {
                to.set(header.getKey(), header.getValue());
            }
        }
    }
}
