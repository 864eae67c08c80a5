package io.fairgate.gateway;

import java.util.List;

/** Requests in one connection that were changed at random. Its text shows them. */
interface FuzzedRequests {

    /** How many there were before the changes. */
    int count();

    /** What is sent. */
    byte[] bytes();

    /** The status codes in what came back. */
    List<Integer> statuses(byte[] answers);
}
