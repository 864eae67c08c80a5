package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseTerm;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

/**
 * The bounds of what peers may request. A request beyond a bound is treated as a request for the bound.
 *
 * @param mostPeers the most peers at one time, including leases of other kinds
 * @param mostPeersOfOne the most leases of one tenant at one time, of any kind
 * @param longestTerm until a silent peer expires ({@code expires_in})
 * @param longestHold how long heartbeats can keep one peer
 * @param longestBlock how long one request waits for a lock ({@code block_for})
 */
public record ThrottleSettings(
        int mostPeers, int mostPeersOfOne, Duration longestTerm, Duration longestHold, Duration longestBlock) {

    public static final ThrottleSettings STANDARD =
            new ThrottleSettings(1_000_000, 1_000_000, Duration.ofHours(24), LeaseTerm.LONGEST, Duration.ofSeconds(30));

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public ThrottleSettings {
        if (mostPeersOfOne < 1 || mostPeers < mostPeersOfOne) {
            throw new IllegalArgumentException("most-peers: %d in all, %d of one (expected: >= 1, and no more of one)"
                    .formatted(mostPeers, mostPeersOfOne));
        }
        LeaseTerm.requireBounded("longest-term", longestTerm);
        LeaseTerm.requireBounded("longest-hold", longestHold);
        LeaseTerm.requireBounded("longest-block", longestBlock);
    }

    /** The same settings with other bounds for the number of peers. */
    public ThrottleSettings with(int peers, int peersOfOne) {
        return new ThrottleSettings(peers, peersOfOne, longestTerm, longestHold, longestBlock);
    }

    Duration term(Duration asked) {
        return Collections.min(List.of(asked, longestTerm));
    }

    Duration block(Duration asked) {
        return Collections.min(List.of(asked, longestBlock));
    }
}
