package io.fairgate.policy;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One way to learn which tenant a request belongs to. Of those that apply to a request the first names its tenant, and
 * the others must say the same.
 */
public sealed interface IdentitySource {

    /**
     * A plain header that names the tenant. It applies to requests that carry it.
     *
     * @param name the header's name
     * @param trustedFrom the peers that may name a tenant this way; nobody else may, so it must not be empty
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
     * A key that the gateway knows the digest of. It applies to requests that carry the header, with the scheme if
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
     * The certificate that the client has proven to own when the connection was made. It applies to connections with
     * one that has a name of that kind. That it comes from a trusted authority is for TLS to verify.
     */
    record ClientCertificate(CertificateName name) implements IdentitySource {}

    /** Which of a certificate's names is the tenant's. */
    enum CertificateName {
        SUBJECT_CN("subject-cn"),
        SAN_DNS("san-dns"),
        SAN_URI("san-uri"),
        SAN_EMAIL("san-email");

        private final String label;

        CertificateName(String label) {
            this.label = label;
        }

        /** As the policy file writes it. */
        public String label() {
            return label;
        }

        public static List<String> labels() {
            return Arrays.stream(values()).map(CertificateName::label).toList();
        }

        /**
         * The kind of name that the policy file writes so.
         *
         * @throws IllegalArgumentException when no kind of name is called that
         */
        public static CertificateName of(String label) {
            return Arrays.stream(values())
                    .filter(name -> name.label.equals(label))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "name: %s (expected: one of %s)".formatted(label, String.join(", ", labels()))));
        }
    }

    /** The header that this way reads; null when it reads none. */
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

    /** What precedes the value in that header; null when nothing does. */
    default @Nullable String readScheme() {
        if (this instanceof ApiKey key) {
            return key.scheme();
        } else if (this instanceof Jwt token) {
            return token.scheme();
        } else {
            return null;
        }
    }

    /** Whether both would take the same value for theirs. */
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
