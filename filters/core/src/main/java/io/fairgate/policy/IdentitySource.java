package io.fairgate.policy;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One way to identify the tenant of a request. Of the sources that apply to a request the first one names its tenant, and
 * the others must name the same tenant.
 */
public sealed interface IdentitySource {

    /**
     * A plain header that names the tenant. It applies to requests that carry it.
     *
     * @param name the header's name
     * @param trustedFrom the networks whose peers may name a tenant in this header; no other peer may, so it must not be empty
     */
    record Header(String name, List<Cidr> trustedFrom) implements IdentitySource {
        public Header {
            HeaderName.checked("header", name);
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

    /**
     * An API key, of which the gateway knows the digest. It applies to requests that carry the header, with the scheme if
     * there is one.
     *
     * @param header the header's name
     * @param scheme what precedes the key in the header, such as {@code Bearer}; null for nothing
     * @param forward whether the upstream gets the key as well
     */
    record ApiKey(String header, @Nullable String scheme, boolean forward) implements IdentitySource {
        public ApiKey {
            HeaderName.checked("header", header);
            if (scheme != null && !scheme.matches("[A-Za-z0-9._-]{1,32}")) {
                throw new IllegalArgumentException("scheme: %s (expected: a word such as Bearer)".formatted(scheme));
            }
        }
    }

    /**
     * A JSON Web Token that the gateway verifies. It applies to requests whose header carries one: in
     * {@code Authorization} after {@code Bearer}, in another header alone.
     *
     * @param header the header's name
     * @param forward whether the upstream gets the token as well
     */
    record Jwt(String header, boolean forward, TokenRules rules, KeySetLocation keys) implements IdentitySource {
        public static final String DEFAULT_HEADER = "Authorization";

        public Jwt {
            HeaderName.checked("header", header);
        }

        /** What precedes the token; null for nothing. */
        public @Nullable String scheme() {
            return header.equalsIgnoreCase(DEFAULT_HEADER) ? "Bearer" : null;
        }
    }

    /**
     * The client certificate of the connection. It applies to connections whose certificate has a name of the given kind. TLS
     * verifies, before the gateway sees it, that the client owns it and that a trusted authority issued it.
     */
    record ClientCertificate(CertificateName name) implements IdentitySource {}

    /** The kind of name in a certificate that identifies the tenant. */
    enum CertificateName {
        SUBJECT_CN("subject-cn"),
        SAN_DNS("san-dns"),
        SAN_URI("san-uri"),
        SAN_EMAIL("san-email");

        private final String label;

        CertificateName(String label) {
            this.label = label;
        }

        /** The form in the policy file. */
        public String label() {
            return label;
        }

        public static List<String> labels() {
            return Arrays.stream(values()).map(CertificateName::label).toList();
        }

        /**
         * The kind of name with this label.
         *
         * @throws IllegalArgumentException when no kind of name has this label
         */
        public static CertificateName of(String label) {
            return Arrays.stream(values())
                    .filter(name -> name.label.equals(label))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "name: %s (expected: one of %s)".formatted(label, String.join(", ", labels()))));
        }
    }

    /** The header that this source reads; null when it reads none. */
    default @Nullable String readHeader() {
        if (this instanceof Header plain) {
            return plain.name();
        } else if (this instanceof ApiKey key) {
            return key.header();
        } else if (this instanceof Jwt token) {
            return token.header();
        } else {
            return null;
        }
    }

    /** What precedes the value in {@link #readHeader}; null when nothing does. */
    default @Nullable String readScheme() {
        if (this instanceof ApiKey key) {
            return key.scheme();
        } else if (this instanceof Jwt token) {
            return token.scheme();
        } else {
            return null;
        }
    }

    /** Whether both sources would read the same credential. */
    default boolean collidesWith(IdentitySource other) {
        String header = readHeader();
        if (header == null) {
            return equals(other);
        }
        String scheme = readScheme();
        return header.equalsIgnoreCase(other.readHeader())
                && (scheme == null || other.readScheme() == null || scheme.equalsIgnoreCase(other.readScheme()));
    }
}
