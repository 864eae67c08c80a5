/**
 * Occupancy Fair Queueing: which request gets the next permit. A pure state machine; time is an argument.
 *
 * <h2>The problem</h2>
 *
 * A pool has <i>N</i> permits; tenants of weight <i>w</i> want them for times that are not known beforehand. Two simple
 * rules fail. <b>Fewest permits held per weight</b> has no memory: with one permit, a tenant of 10 s requests and one of
 * 1 s requests get one request each in turn, so the first has 91 % of the time. <b>Least permit-time used per weight</b>
 * over-reacts: permit-time does not change at the moment of a grant, so a tenant that is slightly behind takes every
 * permit that is free at that moment.
 *
 * <h2>The rule</h2>
 *
 * The rule combines both. Each tenant has a <b>key</b>, and the backlogged tenant with the smallest key gets the next
 * permit:
 *
 * <pre>{@code key = (permitTime + gain * inFlight) / weight}</pre>
 *
 * <ul>
 *   <li><b>permitTime</b>: permit-nanoseconds that the tenant used while the pool was contended. Divided by the weight it is
 *       the tenant's <b>attained service</b>. This term is the memory of the rule.
 *   <li><b>inFlight</b>: permits held now. This term reacts at once. The <b>gain</b> converts it to time: it is about
 *       twice a typical hold (see {@link io.fairgate.fairness.Gain}).
 * </ul>
 *
 * <b>Contended clock.</b> {@code permitTime} grows on a clock that runs only while a backlogged tenant waits. Permits
 * that no other tenant wants are free of charge: using an idle pool creates no debt.
 *
 * <p><b>Backlogged</b>: a tenant is backlogged while it has a waiting request that its own cap (and the pool's size) would
 * let in. A tenant that waits only for its own cap does not compete, and does not make the clock run.
 *
 * <p><b>Virtual time</b> is the weighted mean of the attained services of the backlogged tenants. A tenant that becomes
 * backlogged is raised to the virtual time if it is behind (idle time earns no credit), and keeps what it is ahead (a
 * short pause forgives no debt). How far it is behind, in permit-time, is its <b>lag</b>. Tenants whose last grant was
 * due to a guarantee or a reservation do not count in the virtual time: they are served in addition to their shares, and
 * a tenant that joins must not wait for what they got.
 *
 * <p><b>Memory.</b> The virtual time rises by {@code N / sum of weights} per second while all permits are in use. An
 * account differs from the virtual time by at most what it rises within the <b>memory</b>, which is a setting ({@link
 * io.fairgate.fairness.FairnessSettings}), and nothing is forgiven sooner. A debt ends after its tenant has been idle for
 * that long on the contended clock. The memory is not estimated from the holds: short holds end a hundred times as often
 * as long ones, and would decide how much is forgiven to the long ones.
 *
 * <p><b>Reserved and guaranteed.</b> Reserved permits stay free for their tenant: granting {@code n} costs the pool
 * {@code max(inFlight + n, reserved) - max(inFlight, reserved)}. A request that fits within its tenant's guarantee as a
 * whole is served before others; a larger one competes by its key.
 *
 * <p><b>Large requests.</b> When the next request wants more permits than are free, and some are free, these are collected
 * for it, and count in its tenant's account as if it held them. {@link io.fairgate.fairness.LargeRequests} has the rules.
 *
 * <p><b>Ties</b> go to the tenant whose last grant is longest ago, then to the one that was known first. Within a
 * tenant the order is first come, first served.
 *
 * <h2>The hierarchy</h2>
 *
 * The pool, groups of tenants, tenants and classes of their requests are the nodes of a tree
 * ({@link io.fairgate.fairness.SchedulingNode}); requests wait at the leaves. Without groups and classes the tree has one
 * level, and all of the above is about the children of the pool. In general it is about the children of one node
 * ({@link io.fairgate.fairness.SchedulingGroup}): they share one virtual time, one clock and one gain, and each of them has
 * its own account and its own key.
 *
 * <ul>
 *   <li><b>Selection</b> goes from the pool down: at each node to the child that comes first by the rule, until a leaf. The
 *       request at the head of the leaf's queue is the next one ({@link io.fairgate.fairness.NextRequest}).
 *   <li><b>Backlogged</b>: a node is backlogged while one of its children is, and its own cap allows the smallest cost of a
 *       grant below it. Children that wait only for their parent's cap compete with each other, on a clock of their own.
 *   <li><b>Cost</b>: a grant that costs a child {@code c} costs its parent {@code c}, less what the child's reservation
 *       had set aside for it. The room of a node is its cap, less what its children hold or keep reserved.
 *   <li><b>Collecting</b> happens at the node nearest to the leaf whose room does not suffice: permits of a capped group
 *       are collected within the group, while the group does not compete and others continue. They are charged at each node
 *       from the leaf up to there.
 *   <li><b>The capacity of a node</b>, which bounds the lags of its children, is what it holds or is
 *       entitled to by its weight, whichever is more.
 * </ul>
 *
 * <h2>Sources</h2>
 *
 * Start-time fair queueing (Goyal, Vin, Cheng, SIGCOMM 1996) and its form for a server that works on several requests at
 * once, SFQ(D) (Jin, Chase, Kaur, SIGMETRICS 2004); charging as time is used, from VTC (Sheng et al., OSDI 2024, arXiv
 * 2401.00588); the virtual time and the lag from EEVDF (Stoica, Abdel-Wahab, 1995) as Linux schedules; seat-seconds and
 * bounded lag from Kubernetes' API Priority and Fairness. A scheduler at every node of a tree, where the bounds of the
 * levels add up: hierarchical packet fair queueing (Bennett, Zhang, SIGCOMM 1996).
 */
@NullMarked
package io.fairgate.fairness;

import org.jspecify.annotations.NullMarked;
