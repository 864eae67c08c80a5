package io.fairgate.spring.upstream;

import io.fairgate.upstream.Outcome;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.timeout.ReadTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** What the failure of an attempt says about the instance. */
final class Failures {

    private Failures() {}

    /** @param isSent whether the attempt had a connection */
    static Outcome outcome(Throwable failure, boolean isSent) {
        if (!isSent) { // Not when the gateway has no more files, or all of its connections to the instance are in use.
            return isOfInstance(failure) ? Outcome.UNREACHABLE : Outcome.NONE;
        }
        return failure instanceof IOException
                        || failure instanceof TimeoutException
                        || failure instanceof ReadTimeoutException
                        || failure instanceof DecoderException
                        || isGatewayTimeout(failure)
                ? Outcome.FAILED
                : Outcome.NONE;
    }

    private static boolean isOfInstance(Throwable failure) {
        return failure instanceof ConnectException
                || failure instanceof NoRouteToHostException
                || failure instanceof UnknownHostException
                || failure instanceof SSLException;
    }

    /** As Spring Cloud Gateway reports that an answer did not come in time. */
    private static boolean isGatewayTimeout(Throwable failure) {
        return failure instanceof ResponseStatusException status
                && status.getStatusCode().isSameCodeAs(HttpStatus.GATEWAY_TIMEOUT);
    }
}
