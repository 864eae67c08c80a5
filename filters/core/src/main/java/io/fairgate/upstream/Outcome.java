package io.fairgate.upstream;

/** What one request to an instance says about the instance. */
public enum Outcome {
    /** It has answered. */
    ANSWERED,

    /** No connection to it could be opened: the request was not sent. */
    UNREACHABLE,

    /** It has answered with an error of a gateway, not in time, not at all, or with something that is no answer. */
    FAILED,

    /** The whole request was sent, and the client left before there was an answer. */
    LEFT,

    /** Nothing: the client has not sent the whole request, or the request has failed in the gateway. */
    NONE
}
