/**
 * The client against a model of the server. {@link io.fairgate.client.ModelServer} keeps the contract of the lease API,
 * {@link io.fairgate.client.Network} loses, delays and repeats, both in virtual time;
 * {@link io.fairgate.client.Loopback} puts the same model behind HTTP.
 */
@NullMarked
package io.fairgate.client;

import org.jspecify.annotations.NullMarked;
