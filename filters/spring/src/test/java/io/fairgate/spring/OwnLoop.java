package io.fairgate.spring;

import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/**
 * Test servers on their own event loop. The shared loops of a process are shut down with each application context, and a server
 * that loses its loop at that moment may never learn that it is closed.
 */
public final class OwnLoop {
    private static final LoopResources LOOP = LoopResources.create("upstream", 1, true);

    private OwnLoop() {}

    /** On loopback, at a free port. */
    public static HttpServer server() {
        return HttpServer.create().runOn(LOOP).host("127.0.0.1").port(0);
    }
}
