/**
 * Leases that several gateways serve together: each may extend, show and release the leases that another has granted, also after that one has
 * ended.
 *
 * <p><b>The book</b> in Redis has a record of each open lease: whose it is, what it holds and waits for, and when it expires. A gateway reads
 * the record, decides, and replaces it if it still has the same revision ({@code book.lua}). So the rules of leases are in Java, once, and
 * the script knows none of them. It keeps the time, and ends records that have expired.
 *
 * <p><b>Permits</b> are those of the pools ({@link io.fairgate.redis.slice}). A lease waits in the pools of one gateway, its <em>host</em>,
 * among the requests there. What they grant moves from the host's slice into the ledgers of the pools, and then into the record; only then the
 * lease is held. The ledgers keep it a while longer than the book, so that a lease which is held always has its permits.
 *
 * <p><b>The end.</b> The gateway that ends a lease removes the record first, then its permits from the ledgers. The host learns it by its
 * mail in the book, and releases the permits in its own pools.
 *
 * <p><b>A gateway that has ended</b> loses its leases to the others: one of them becomes the host. Where the lease waited, it queues anew, in
 * the order of arrival. What it held stays in the ledgers.
 */
@NullMarked
package io.fairgate.redis.lease;

import org.jspecify.annotations.NullMarked;
