package io.fairgate.gateway.http;

import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;

/**
 * Counts the requests of one HTTP/1.1 connection whose responses have not been written to their end. An interim response, such
 * as 100, is no response. Must be called on the event loop of the connection.
 */
final class UnansweredRequests {

    private int count;
    private boolean isAnswering;

    /** Counts the part if it begins a request, and returns whether it does. */
    boolean read(Object part) {
        if (part instanceof HttpRequest) {
            count++;
            return true;
        }
        return false;
    }

    /** Notes a part that is written, and returns whether it ends a response. */
    boolean written(Object part) {
        if (part instanceof HttpResponse response) {
            isAnswering = response.status().codeClass() != HttpStatusClass.INFORMATIONAL;
        }
        if (part instanceof LastHttpContent && isAnswering) {
            isAnswering = false;
            count--;
            return true;
        }
        return false;
    }

    int count() {
        return count;
    }

    /** Whether a response has begun and has not ended. */
    boolean isAnswering() {
        return isAnswering;
    }
}
