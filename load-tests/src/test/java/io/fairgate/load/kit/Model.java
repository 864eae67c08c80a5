package io.fairgate.load.kit;

/** How the load reacts to slow answers. */
enum Model {
    /** A number of connections, each of which sends its next request when it has the answer to the last one. */
    CLOSED,
    /** A number of requests a second, whether there are answers or not. */
    OPEN
}
