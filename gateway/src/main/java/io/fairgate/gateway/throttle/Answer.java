package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.Call;
import org.springframework.http.HttpStatus;
import reactor.core.publisher.Mono;

/**
 * An answer of the throttle protocol.
 *
 * @param contentType empty for none
 */
record Answer(HttpStatus status, String contentType, String body) {

    static Answer text(String body) {
        return text(HttpStatus.OK, body);
    }

    static Answer text(HttpStatus status, String body) {
        return new Answer(status, "text/plain; charset=utf-8", body);
    }

    static Answer json(String body) {
        return json(HttpStatus.OK, body);
    }

    static Answer json(HttpStatus status, String body) {
        return new Answer(status, "application/json", body);
    }

    Mono<Void> to(Call call) {
        return call.answer(status, contentType, body);
    }
}
