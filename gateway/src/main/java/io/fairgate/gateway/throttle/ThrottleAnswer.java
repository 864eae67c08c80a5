package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.HttpCall;
import org.springframework.http.HttpStatus;
import reactor.core.publisher.Mono;

/**
 * An answer of the throttle protocol.
 *
 * @param contentType empty for none
 */
record ThrottleAnswer(HttpStatus status, String contentType, String body) {

    static final ThrottleAnswer OK = text(HttpStatus.OK, "Ok");

    static ThrottleAnswer text(HttpStatus status, String body) {
        return new ThrottleAnswer(status, "text/plain; charset=utf-8", body);
    }

    static ThrottleAnswer json(HttpStatus status, String body) {
        return new ThrottleAnswer(status, "application/json", body);
    }

    Mono<Void> to(HttpCall call) {
        return call.answer(status, contentType, body);
    }
}
