package io.fairgate.policy;

import java.net.InetAddress;
import java.util.List;

/** One way to learn which tenant a request belongs to. The first source that applies to a request names it. */
public sealed interface IdentitySource {

    /**
     * A plain header that names the tenant. It applies to requests that carry it.
     *
     * @param name the header's name
     * @param trustedFrom the peers that may name a tenant this way; nobody else may, so it must not be empty
     */
    record Header(String name, List<Cidr> trustedFrom) implements IdentitySource {
        public Header {
            if (!name.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")) {
                throw new IllegalArgumentException("header: %s (expected: the name of an HTTP header)".formatted(name));
            }
            trustedFrom = List.copyOf(trustedFrom);
            if (trustedFrom.isEmpty()) {
                throw new IllegalArgumentException(
                        "trusted-from: nothing (expected: the networks whose peers may send this header, such as 127.0.0.0/8)");
            }
        }

        public boolean trusts(InetAddress peer) {
            return trustedFrom.stream().anyMatch(network -> network.contains(peer));
        }
    }
}
