package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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

    static List<ResponseCase> responses() {
        return ResponseCase.all();
    }

    @ParameterizedTest
    @MethodSource("responses")
    void a_response_is_forwarded_as_by_the_filter_chain(ResponseCase response) throws Exception {
        Observation observed = gateways.observe(response.script(), client -> {
            client.send(request(response.method(), "/x"));
            client.response(response.method().equals("HEAD"));
            client.probe();
        });
        if (response.seen() != null) {
            assertThat(observed.client()).contains(response.seen());
        }
    }
}
