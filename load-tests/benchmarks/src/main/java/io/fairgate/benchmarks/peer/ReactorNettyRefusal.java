package io.fairgate.benchmarks.peer;

import io.fairgate.benchmarks.process.ParentProcess;
import io.netty.handler.codec.http.HttpResponseStatus;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Refuses every request, in Reactor Netty without a framework: the least that a refusal on Reactor Netty can cost. */
public final class ReactorNettyRefusal {

    private ReactorNettyRefusal() {}

    /** Runs until it is killed, or its parent process has ended. */
    public static void main(String[] args) {
        ParentProcess.endWithIt();
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> {
                    response.status(HttpResponseStatus.SERVICE_UNAVAILABLE);
                    ConstantAnswer.addHeaders(response.responseHeaders());
                    return response.sendObject(ConstantAnswer.body());
                })
                .bindNow();
        System.out.println("port " + server.port());
        server.onDispose().block();
    }
}
