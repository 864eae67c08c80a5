package io.fairgate.spring.upstream;

import io.fairgate.upstream.HealthCheck;
import io.fairgate.upstream.Instance;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.net.InetSocketAddress;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.http.client.HttpClient;
import reactor.netty.tcp.SslProvider;

/** Asks an instance whether it is ready. Each time on a connection of its own: all others may be in use, which says nothing. */
final class InstanceCheck implements InstanceWatch.Check {

    private static final int FIRST_FAILURE = 400;

    private final HttpClient client;
    private final Scheduler time;

    /** @param requests the client of requests, whose settings of TLS are those of checks, too */
    InstanceCheck(HttpClient requests, Scheduler time) {
        this.time = time;
        SslProvider tls = requests.configuration().sslProvider();
        HttpClient own = HttpClient.newConnection().disableRetry(true);
        this.client = tls == null ? own : own.secure(tls);
    }

    @Override
    public Mono<Boolean> passes(InstanceAddress instance, HealthCheck check) {
        return request(instance, check.path())
                .map(status -> status < FIRST_FAILURE)
                .timeout(check.timeout(), time)
                .onErrorReturn(false)
                .defaultIfEmpty(false);
    }

    private Mono<Integer> request(InstanceAddress instance, String path) {
        HttpClient own = client;
        String target = path;
        if (Instance.isSecure(instance.uri())) {
            target = instance.base() + path;
        } else {
            InetSocketAddress address = instance.socketAddress();
            own = client.noSSL().remoteAddress(() -> address);
        }
        return own.headers(headers -> headers.set(HttpHeaderNames.HOST, instance.authority()))
                .get()
                .uri(target)
                .response()
                .map(response -> response.status().code());
    }
}
