package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The recording upstream and the recording client, without a gateway between them. */
class RecorderTest {

    private final RecordingUpstream upstream = new RecordingUpstream();

    @AfterEach
    void close() {
        upstream.close();
    }

    @Test
    void a_request_and_its_response_are_recorded_as_they_were_sent() throws Exception {
        upstream.answerWith(RecordingUpstream.answer(
                "HTTP/1.1 200 Fine",
                "x-b:  2 ",
                "X-A: 1",
                "x-a: \u00e4",
                "Transfer-Encoding: chunked",
                "",
                "2\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: u\r\n\r\n"));
        try (RecordingClient client = new RecordingClient(Way.DIRECT, upstream.port())) {
            client.send("POST /a%2fb?|[ HTTP/1.1\r\nx-b: 1\r\nX-B: 2\r\nContent-Length: 3\r\n\r\na\0b");
            client.response();
            assertThat(client.text()).isEqualTo("""
                    HTTP/1.1 200 Fine
                      Transfer-Encoding: chunked
                      X-A: 1
                      X-A: \u00e4
                      x-b:  2\s
                      (chunked, 5 bytes) hello
                      (trailers)
                      X-T: u
                    """);
        }
        assertThat(upstream.text()).isEqualTo("""
                POST /a%2fb?|[ HTTP/1.1
                  Content-Length: 3
                  x-b: 1
                  x-b: 2
                  (length, 3 bytes) a\0b
                """);
    }

    @Test
    void bodies_that_are_broken_off_and_connections_that_end_are_recorded() throws Exception {
        upstream.answerWith(request -> {
            request.send("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello");
            request.close();
        });
        try (RecordingClient client = new RecordingClient(Way.DIRECT, upstream.port())) {
            client.send("GET / HTTP/1.1\r\n\r\n").response();
            client.probe();
            assertThat(client.text())
                    .startsWith("HTTP/1.1 103 Early\nHTTP/1.1 200 OK\n")
                    .contains("(length, 5 bytes, broken off) hello")
                    .endsWith("the connection was closed\n");
        }
    }
}
