package io.fairgate.spring.admission;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The servers of the application that serve routes, so that a shutdown can close their listening sockets. */
final class OpenServers {

    private final Set<DisposableServer> servers = ConcurrentHashMap.newKeySet();

    /** Remembers the server when it has bound its port. */
    HttpServer remember(HttpServer server) {
        return server.doOnBound(servers::add);
    }

    /**
     * Closes the listening sockets and the connections on which no exchange is under way, and completes when the exchanges on the others
     * have ended. An idle connection is closed between two requests, as RFC 9112, 9.5 allows. Boot's own shutdown of a server, which
     * comes later, does nothing more then.
     */
    Mono<Void> close() {
        return Mono.create(sink -> {
            // Reactor Netty has no way to do the same without a thread that waits.
            Thread thread = new Thread(
                    () -> {
                        servers.forEach(server -> server.disposeNow(Duration.ofNanos(Long.MAX_VALUE)));
                        sink.success();
                    },
                    "fairgate-shutdown");
            thread.setDaemon(true);
            thread.start();
        });
    }
}
