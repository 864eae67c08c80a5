/**
 * How several nodes share the permits of one pool through a ledger in Redis, so that all together never hold more than the
 * pool has. A node is one run of one gateway.
 *
 * <p><b>The ledger</b> records for each node its <em>slice</em>, the permits that the node may grant by itself, and for each
 * lease its permits. The sum of both is at most the size of the pool. A request takes a permit of the slice and never waits
 * for the network.
 *
 * <p><b>The heartbeat.</b> A node has at most one call to the ledger on its way. Each heartbeat says how many permits the node
 * <em>keeps</em>: a promise, because the node has stopped to use any others before it sends. What it gives up becomes free.
 * It also says how many permits the node <em>wants</em>. The ledger answers with the slice, which has grown when permits were
 * free. Each node finds its <em>target</em> itself ({@link io.fairgate.redis.division.ClusterShares}), from what all nodes tell
 * each other; a node above its target shrinks as its permits come free. {@link io.fairgate.redis.slice.SliceNode} sends the
 * heartbeats, and has the pool of its process follow. Targets are advice: wrong ones are unfair and never exceed
 * the pool.
 *
 * <p><b>The term.</b> A slice holds for a time from the moment when the heartbeat was <em>sent</em>. The ledger counts the same time
 * from when it <em>executed</em> the heartbeat, on a clock that follows the one of Redis but never goes back and never leaps. So a node
 * has stopped before the ledger gives its slice to others. A node whose term has ended begins again as another node.
 *
 * <p><b>Outages.</b> Before a slice ends without an answer, the node goes on with the permits of its {@link
 * io.fairgate.redis.slice.OutagePolicy}. A reserve is never in the ledger: the ledger divides the permits without the reserves of all
 * nodes.
 *
 * <p><b>Leases</b> outlive nodes. A heartbeat moves the permits of a new lease from the slice to a record of its own, and repeats this
 * until it is answered; the ledger does it once.
 *
 * <p><b>Lost writes.</b> After a failover the ledger may be older than what nodes were told. It notices this by the identity of the
 * server, by versions that nodes have seen, and by promises larger than its records. Then a new <em>epoch</em> begins with a
 * recovery: nodes and leases that are missing are recorded again as their nodes assert them, and no slice grows until each
 * term that the lost ledger may have given has ended.
 *
 * <p>The idea of slices with terms is that of Doorman (github.com/youtube/doorman, doc/design.md), without its approximations:
 * a shrink counts when the node has promised it, and a growth comes from free permits only.
 */
@NullMarked
package io.fairgate.redis.slice;

import org.jspecify.annotations.NullMarked;
