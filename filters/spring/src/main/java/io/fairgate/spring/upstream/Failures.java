package io.fairgate.spring.upstream;

import io.fairgate.upstream.Outcome;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.timeout.ReadTimeoutException;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** What the failure of an attempt says about the instance. */
final class Failures {

    private Failures() {}

    /** @param isSent whether the attempt had a connection */
    static Outcome outcome(Throwable failure, boolean isSent) {
        if (!isSent) { // Not when all connections of the gateway to the instance are in use: that is no I/O error.
            return failure instanceof IOException ? Outcome.UNREACHABLE : Outcome.UNKNOWN;
        }
        return failure instanceof IOException
                        || failure instanceof TimeoutException
                        || failure instanceof ReadTimeoutException
                        || failure instanceof DecoderException
                        || isGatewayTimeout(failure)
                ? Outcome.FAILED
                : Outcome.UNKNOWN;
    }

    /** As Spring Cloud Gateway reports that an answer did not come in time. */
    private static boolean isGatewayTimeout(Throwable failure) {
        return failure instanceof ResponseStatusException status
                && status.getStatusCode().isSameCodeAs(HttpStatus.GATEWAY_TIMEOUT);
    }
}
