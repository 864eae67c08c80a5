package io.fairgate.gateway;

import io.fairgate.gateway.lease.LeaseApiServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A tenant that leases permits of a gateway over HTTP. */
record LeasingTenant(RunningGateway gateway, String tenant) {

    static final String ON = "--fairgate.leases.enabled=true";

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Starts a gateway with leases and without an upstream. */
    static RunningGateway start(RunningGateway gateway, String policy, String... options) {
        List<String> all = new ArrayList<>(Arrays.asList(options));
        all.add(ON);
        if (all.stream().noneMatch(option -> option.startsWith("--fairgate.leases.port="))) {
            all.add("--fairgate.leases.port=0");
        }
        return gateway.start(policy, all.toArray(String[]::new));
    }

    static int port(RunningGateway gateway) {
        return gateway.context().getBean(LeaseApiServer.class).port();
    }

    /** Calls with the tenant's header; an empty text means no body. */
    CompletableFuture<Answer> future(String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port(gateway) + path))
                .timeout(Duration.ofSeconds(60))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (!tenant.isEmpty()) {
            request.header("X-Tenant-Id", tenant);
        }
        if (!body.isEmpty() && !Arrays.asList(headers).contains("Content-Type")) {
            request.header("Content-Type", "application/json");
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return CLIENT.sendAsync(request.build(), BodyHandlers.ofString())
                .thenApply(response -> new Answer(response.statusCode(), response.headers(), response.body()));
    }

    Answer call(String method, String path, String body, String... headers) {
        Answer answer = future(method, path, body, headers).join();
        LeaseDescription.assertDescribes(method, path, answer);
        return answer;
    }

    CompletableFuture<Answer> acquiring(String key, String pool, String body) {
        return future("POST", "/v1/pools/" + pool + "/leases", body, "Idempotency-Key", key);
    }

    Answer acquire(String key, String pool, String body) {
        return call("POST", "/v1/pools/" + pool + "/leases", body, "Idempotency-Key", key);
    }

    Answer acquireAll(String key, String body) {
        return call("POST", "/v1/leases:acquireAll", body, "Idempotency-Key", key);
    }

    Answer extend(String id, String ttl) {
        return call("PUT", "/v1/leases/" + id, "{\"ttl\":\"" + ttl + "\"}");
    }

    Answer release(String id) {
        return call("DELETE", "/v1/leases/" + id, "");
    }

    Answer get(String id) {
        return call("GET", "/v1/leases/" + id, "");
    }

    Answer restore(String id, String body) {
        return call("POST", "/v1/leases/" + id + "/restore", body);
    }
}
