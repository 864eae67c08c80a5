package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an upstream gets of a request, and what a client gets of a response. */
class MessagesTest {

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream()).route("plain", "Path=/**");

    static List<RequestCase> requests() {
        return RequestCase.all();
    }

    @ParameterizedTest
    @MethodSource("requests")
    void a_request_is_forwarded_as_by_the_filter_chain(RequestCase request) throws Exception {
        gateways.assertForwardedDirectly("plain", true);
        Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
            client.send(request.bytes()).response();
            client.probe();
        });
        if (request.seen() != null) {
            assertThat(observed.text()).contains(request.seen());
        }
    }

    /** The filter chain drops empty parameters, and sorts the others by name. */
    @ParameterizedTest
    @ValueSource(strings = {"/?", "/x?", "/x?a=&b&=c", "/x?&&a=1&&", "/x?a=1&a=2&b=3&a=4"})
    void a_query_is_forwarded_as_it_was_received(String target) throws Exception {
        Observation observed = gateways.observe(
                Way.DIRECT,
                RecordingUpstream.OK,
                client -> client.send(request("GET", target)).response());
        assertThat(observed.upstream()).startsWith("GET " + target + " HTTP/1.1\n");
    }

    static List<ResponseCase> responses() {
        return ResponseCase.all();
    }

    @ParameterizedTest
    @MethodSource("responses")
    void a_response_is_forwarded_as_by_the_filter_chain(ResponseCase response) throws Exception {
        Observation observed = gateways.observe(response.script(), client -> {
            client.send(request(response.method(), "/x"));
            client.response(response.method().equals("HEAD"));
            gateways.upstream().awaitDone(); // Some responses end with their connection, which must not get the probe.
            client.probe();
        });
        if (response.seen() != null) {
            assertThat(observed.client()).contains(response.seen());
        }
    }
}
