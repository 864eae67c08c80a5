package io.fairgate.gateway.cache;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;

/** The requests of a training run: forwarded and refused ones, probes and scrapes, leases and locks. */
final class TrainingRequests {

    /** Enough for profiles of the methods that a request needs; more would only take longer. */
    private static final int TIMES = 300;

    /** The plan of this tenant lets three requests pass in ten seconds. */
    private static final int TIMES_LIMITED = 5;

    private static final String QUIET = "quiet";

    private TrainingRequests() {}

    /** @param ports of traffic, management and leases */
    static void send(Matcher ports) throws IOException {
        String traffic = "http://127.0.0.1:" + ports.group(1);
        String management = "http://127.0.0.1:" + ports.group(2);
        String leases = "http://127.0.0.1:" + ports.group(3);
        for (int i = 0; i < TIMES; i++) {
            get(traffic + "/fair/1?page=" + i, QUIET);
            get(traffic + "/plain/1", QUIET);
            post(traffic + "/fair/2", "{}");
        }
        for (int i = 0; i < TIMES_LIMITED; i++) {
            get(traffic + "/fair/3", "limited");
        }
        for (String refused : List.of("unknown", "not an id")) {
            get(traffic + "/fair/4", refused);
        }
        get(traffic + "/no-route", QUIET);
        for (String path :
                List.of("health", "health/liveness", "health/readiness", "prometheus", "pools", "decisions")) {
            get(management + "/actuator/" + path, QUIET);
        }
        post(leases + "/v1/pools/demo/leases", "{\"permits\":1}");
        post(leases + "/new_peer", "{\"expires_in\":\"1m\"}");
        get(leases + "/metrics", QUIET);
    }

    private static void get(String url, String tenant) throws IOException {
        HttpURLConnection connection = to(url, tenant);
        read(connection);
    }

    private static void post(String url, String body) throws IOException {
        HttpURLConnection connection = to(url, QUIET);
        connection.setRequestMethod("POST");
        connection.setRequestProperty("Content-Type", "application/json");
        connection.setDoOutput(true);
        connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        read(connection);
    }

    private static HttpURLConnection to(String url, String tenant) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(url).toURL().openConnection();
        connection.setRequestProperty("X-Tenant-Id", tenant);
        return connection;
    }

    /** To its end, so that the connection is used again. */
    private static void read(HttpURLConnection connection) throws IOException {
        boolean isError = connection.getResponseCode() >= HttpURLConnection.HTTP_BAD_REQUEST;
        try (InputStream body = isError ? connection.getErrorStream() : connection.getInputStream()) {
            if (body != null) {
                body.readAllBytes();
            }
        }
    }
}
