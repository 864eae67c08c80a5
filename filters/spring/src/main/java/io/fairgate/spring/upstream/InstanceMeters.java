package io.fairgate.spring.upstream;

import io.fairgate.upstream.Outcome;

/** Counts what happens at the instances of upstreams. */
public interface InstanceMeters {

    /** The upstream may have other instances than before. */
    void show(LiveUpstream upstream);

    /** The policy no longer names the upstream. */
    void gone(LiveUpstream upstream);

    /** A request to an instance has failed there. */
    void failed(LiveUpstream upstream, InstanceAddress instance, Outcome outcome);

    /** A request that failed at an instance is sent to another one. */
    void repeated(LiveUpstream upstream);
}
