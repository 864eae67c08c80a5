/**
 * Which part of a pool each node should have. Every node finds its own part from what all nodes tell of their requests, and nothing here
 * talks to other nodes: {@link io.fairgate.redis.slice} sends the texts, and moves the permits.
 */
@NullMarked
package io.fairgate.redis.division;

import org.jspecify.annotations.NullMarked;
