/**
 * The instances of an upstream, and how requests are spread over them. Start at {@link io.fairgate.upstream.Upstream} for the
 * settings, and at {@link io.fairgate.upstream.Balancer} for the rules.
 *
 * <p>A request goes to the instance with the fewest requests in flight for its weight, or to each in turn. Beside the requests in
 * flight, an instance has a <b>burden</b>: each failure counts as one more request in flight, and is forgotten within about a
 * second. So an instance that fails at once does not look idle, and one that fails half of the time gets fewer requests than the
 * others, without a threshold.
 *
 * <p>An instance that fails several times in a row is <b>put aside</b>: for a while it gets no requests. Then it gets one, the
 * <b>probe</b>, and one more for each second without an answer. If a probe is answered, the instance is back; if it fails, the instance
 * is put aside for twice as long, up to a bound. Only requests
 * that were sent after the last change say something about it: those that were in flight before are not counted.
 *
 * <p>Two kinds of failures differ. A connection that cannot be opened says something about the instance only, so all instances but
 * the last can be put aside for it. An error or a time-out may be caused by the request itself, and one tenant could send such requests
 * on purpose. So at most half of the instances are aside for these at a time. When no instance is left, because checks say so, all
 * of them are used.
 *
 * <p>Sources: passive checks of nginx ({@code max_fails}), outlier detection of Envoy (failures in a row, a longer time after each
 * ejection, a bound on how many are ejected), and stride scheduling for the turns (Waldspurger and Weihl, 1995).
 */
@NullMarked
package io.fairgate.upstream;

import org.jspecify.annotations.NullMarked;
