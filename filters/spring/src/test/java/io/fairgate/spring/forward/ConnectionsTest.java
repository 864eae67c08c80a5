package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static io.fairgate.spring.forward.RecordingClient.requestWithBody;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import io.fairgate.spring.forward.RecordingUpstream.Script;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several requests on a connection, connections that end too early, and bodies that wait for permission. */
class ConnectionsTest {

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream())
            .set("fairgate.policy.pools.pool.on-client-left", "close")
            .set("fairgate.policy.pools.single.permits", 1)
            .set("fairgate.policy.pools.single.max-wait", "60s")
            .route("single", "Path=/single/**", "FairShare=single")
            .route("plain", "Path=/**");

    @Test
    void requests_one_after_the_other() throws Exception {
        Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
            for (int i = 0; i < 5; i++) {
                client.send(i % 2 == 0 ? request("GET", "/" + i) : requestWithBody("POST", "/" + i, "body " + i));
                client.response();
            }
        });
        assertThat(observed.upstream()).contains("POST /3 HTTP/1.1", "GET /4 HTTP/1.1");
    }

    @Test
    void requests_without_waiting_for_responses() throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    request.body();
                    String path = request.head().start();
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: " + path.length() + "\r\n\r\n" + path);
                },
                client -> {
                    client.send(request("GET", "/0") + requestWithBody("POST", "/1", "hello") + request("GET", "/2")
                            + request("PUT", "/3", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"
                            + request("GET", "/4"));
                    for (int i = 0; i < 5; i++) {
                        client.response();
                    }
                    client.probe();
                });
        assertThat(observed.client()).contains("GET /4", "kept");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "200 OK|Content-Length: 2||ok",
                "200 OK|Content-Length: 0||",
                "200 OK|Transfer-Encoding: chunked||2|ok|0||",
                "200 OK|Connection: close|Content-Length: 2||ok",
                "200 OK|Connection: Close, X-Foo|Content-Length: 2||ok",
                "200 OK|Connection: keep-alive|Content-Length: 2||ok",
                "204 No Content||",
                "304 Not Modified||",
                "500 Oh|Content-Length: 2||ok"
            })
    void the_connection_to_the_upstream_is_kept_as_by_the_filter_chain(String response) throws Exception {
        Script script = RecordingUpstream.answer(("HTTP/1.1 " + response).split("\\|", -1));
        Observation observed = gateways.observe(script, client -> {
            client.send(request("GET", "/x")).response();
            client.probe();
            client.note(gateways.upstream().connections() + " connections");
        });
        assertThat(observed.client()).contains(response.contains("lose") ? "2 connections" : "1 connections");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 200000", "Transfer-Encoding: chunked"})
    void a_request_that_waits_is_forwarded_with_its_whole_body(String framing) throws Exception {
        String body = "0123456789".repeat(20_000);
        Semaphore end = new Semaphore(0);
        Observation observed = gateways.observe(
                request -> {
                    request.body();
                    if (request.head().start().contains("/held")) {
                        Patience.acquire(end);
                    }
                    RecordingUpstream.OK.answer(request);
                },
                client -> {
                    try (RecordingClient holder = gateways.connect(client.way())) {
                        holder.send(request("GET", "/single/held"));
                        Patience.until(
                                "a held request", () -> gateways.upstream().arrived() == 1);
                        client.send(request("POST", "/single/x", framing));
                        client.send(framing.startsWith("C") ? body : "30d40\r\n" + body + "\r\n0\r\n\r\n");
                        gateways.awaitWaiting(client.way(), "single", 1);
                        end.release();
                        client.response();
                        holder.response();
                        client.probe();
                    }
                });
        assertThat(observed.upstream()).contains("POST /single/x", "200000 bytes");
    }

    @Test
    void a_client_that_leaves_before_the_response() throws Exception {
        Semaphore arrived = new Semaphore(0);
        Observation observed = gateways.observe(
                request -> {
                    arrived.release();
                    request.awaitClose();
                },
                client -> {
                    client.send(request("GET", "/x"));
                    Patience.acquire(arrived);
                    client.close();
                });
        assertThat(observed.upstream()).contains("the gateway closed the connection");
    }

    @Test
    void a_client_that_leaves_in_the_response() throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
                    request.awaitClose();
                },
                client -> {
                    client.send(request("GET", "/x")).head();
                    client.close();
                });
        assertThat(observed.upstream()).contains("the gateway closed the connection");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 10", "Transfer-Encoding: chunked"})
    void a_client_that_leaves_in_its_request(String framing) throws Exception {
        Semaphore arrived = new Semaphore(0);
        Observation observed = gateways.observe(
                request -> {
                    request.wire().in().mark(1);
                    assertThat(request.wire().in().read()).isPositive();
                    request.wire().in().reset();
                    arrived.release();
                    request.body();
                    request.close();
                },
                client -> {
                    client.send(
                            request("POST", "/x", framing) + (framing.startsWith("C") ? "hello" : "5\r\nhello\r\n"));
                    Patience.acquire(arrived);
                    client.close();
                });
        assertThat(observed.upstream()).contains("5 bytes, broken off) hello");
    }

    /** Reads the body, with or without an interim response that asks for it. */
    private static Script reading(boolean asks) {
        return request -> {
            if (asks) {
                request.send("HTTP/1.1 100 Continue\r\n\r\n");
            }
            RecordingUpstream.OK.answer(request);
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_client_that_sends_its_body_when_it_may(boolean asks) throws Exception {
        for (String framing : List.of("Content-Length: 5", "Transfer-Encoding: chunked")) {
            Observation observed = gateways.observe(reading(asks), client -> {
                client.send(request("POST", "/x", framing, "Expect: 100-continue"))
                        .head();
                client.send(framing.startsWith("C") ? "hello" : "5\r\nhello\r\n0\r\n\r\n");
                client.response();
                client.probe();
            });
            assertThat(observed.client()).startsWith("HTTP/1.1 100 Continue");
            assertThat(observed.upstream()).contains("5 bytes) hello");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_client_that_sends_its_body_at_once(boolean asks) throws Exception {
        Observation observed = gateways.observe(reading(asks), client -> {
            client.send(request("POST", "/x", "Content-Length: 5", "Expect: 100-continue") + "hello");
            client.response();
            client.probe();
        });
        assertThat(observed.upstream()).contains("5 bytes) hello");
    }

    /** The client keeps its body back until the final response has come, and then sends none. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno",
                "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
            })
    void an_upstream_that_answers_without_the_body(String response) throws Exception {
        for (String framing : List.of("Content-Length: 5", "Transfer-Encoding: chunked")) {
            Observation observed = gateways.observe(
                    request -> {
                        request.send(response);
                        request.awaitClose();
                    },
                    client -> client.send(request("POST", "/x", framing, "Expect: 100-continue"))
                            .response());
            assertThat(observed.upstream()).contains("(body not read)");
            assertThat(observed.client()).contains(response.substring(0, 12));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Expect: 100-Continue", "Expect: something", "Expect:", "Expect: 100-continue, something"})
    void other_expectations_and_no_body(String field) throws Exception {
        Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
            client.send(request("GET", "/x", field)).response();
            client.probe();
        });
        assertThat(observed.upstream()).contains(field);
    }

    @ParameterizedTest
    @ValueSource(strings = {"100 Continue", "102 Processing", "103 Early Hints", "199 Odd"})
    void an_interim_response_of_an_upstream_is_not_taken_for_the_response(String status) throws Exception {
        String interim = "HTTP/1.1 " + status + "\r\nLink: </a>\r\n\r\n";
        for (String before : List.of(interim, interim + interim)) {
            Observation observed = gateways.observe(
                    request -> {
                        request.body();
                        request.send(before + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    },
                    client -> {
                        client.send(request("GET", "/x")).response();
                        client.probe();
                        client.note(gateways.upstream().connections() + " connections");
                    });
            assertThat(observed.client())
                    .startsWith("HTTP/1.1 200 OK")
                    .contains("(length, 2 bytes) ok", "is kept", "1 connections");
        }
    }

    /** The next request must get neither the permit nor the connection, on which the final response is still to come. */
    @Test
    void a_permit_is_held_after_an_interim_response_and_each_request_gets_its_own_response() throws Exception {
        Semaphore end = new Semaphore(0);
        Observation observed = gateways.observe(
                request -> {
                    String path = request.head().start().split(" ", 3)[1];
                    if (path.endsWith("/first")) {
                        request.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
                        Patience.acquire(end);
                    }
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: " + path.length() + "\r\n\r\n" + path);
                },
                client -> {
                    try (RecordingClient next = gateways.connect(client.way())) {
                        client.send(request("GET", "/single/first"));
                        Patience.until("the first", () -> gateways.upstream().arrived() == 1);
                        next.send(request("GET", "/single/next"));
                        gateways.awaitWaiting(client.way(), "single", 1);
                        end.release();
                        client.response();
                        next.response();
                        client.note(next.text());
                    }
                });
        assertThat(observed.client()).containsSubsequence("200 OK", ") /single/first", "200 OK", ") /single/next");
    }
}
