package io.fairgate.upstream;

/** What one request to an instance says about the instance. */
public enum Outcome {
    /** It has answered. */
    ANSWERED,

    /** No connection to it could be opened: the request was not sent. */
    UNREACHABLE,

    /** It has answered with an error of a gateway, not in time, not at all, or with something that is no answer. */
    FAILED,

    /** The client left, or a time ended that has nothing to do with the instance, before there was an answer. */
    UNKNOWN
}
