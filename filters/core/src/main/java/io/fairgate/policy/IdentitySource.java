package io.fairgate.policy;

import io.fairgate.policy.CredentialHeader.Forwarding;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One way to identify the tenant of a request. Of the sources that apply to a request the first one names its tenant, and
 * the others must name the same tenant.
 */
public sealed interface IdentitySource {

    /** The kinds of sources. Every {@code switch} over them is an expression, which does not compile if a kind is missing. */
    enum Kind {
        HEADER,
        API_KEY,
        JWT,
        CLIENT_CERTIFICATE,
        BEAN;

        /** The key in the policy file. */
        public String key() {
            return inPolicy(this);
        }
    }

    Kind kind();

    /**
     * The header that this source reads; null when it reads none. It cannot read another one, so it cannot read a credential
     * that is then forwarded without having been considered here.
     */
    @Nullable
    CredentialHeader header();

    /**
     * A plain header that names the tenant. It applies to requests that carry it.
     *
     * @param trustedFrom the networks whose clients may name a tenant in this header; empty if only the trusted proxies may, which
     *     then write this header themselves
     */
    record Header(CredentialHeader header, List<Cidr> trustedFrom) implements IdentitySource {
        static final String PEERS =
                "the networks whose clients may send this header, such as 127.0.0.0/8, or trusted-proxies, which write it";

        public Header {
            requireForwarding(header, header.forwarding() == Forwarding.REPLACED);
            trustedFrom = List.copyOf(trustedFrom);
        }

        public Header(String name, List<Cidr> trustedFrom) {
            this(new CredentialHeader(name, null, Forwarding.REPLACED), trustedFrom);
        }

        @Override
        public Kind kind() {
            return Kind.HEADER;
        }

        /** Whether only the trusted proxies may name a tenant in this header. */
        public boolean isForProxies() {
            return trustedFrom.isEmpty();
        }

        /** Whether a client with this address may name a tenant in this header. */
        public boolean trusts(InetAddress client) {
            return trustedFrom.stream().anyMatch(network -> network.contains(client));
        }
    }

    /**
     * An API key, of which the gateway knows the digest. It applies to requests with the header and the scheme, if any.
     */
    record ApiKey(CredentialHeader header) implements IdentitySource {
        public ApiKey {
            requireForwarding(header, header.forwarding() != Forwarding.REPLACED);
        }

        @Override
        public Kind kind() {
            return Kind.API_KEY;
        }
    }

    /**
     * A JSON Web Token that the gateway verifies. It applies to requests whose header carries one: in
     * {@code Authorization} after {@code Bearer}, in another header alone.
     */
    record Jwt(CredentialHeader header, TokenRules rules, KeySetLocation keys) implements IdentitySource {
        public static final String DEFAULT_HEADER = "Authorization";

        public Jwt {
            requireForwarding(header, header.forwarding() != Forwarding.REPLACED);
        }

        /** @param forward whether the upstream gets the token as well */
        public Jwt(String header, boolean forward, TokenRules rules, KeySetLocation keys) {
            this(
                    new CredentialHeader(header, header.equalsIgnoreCase(DEFAULT_HEADER) ? "Bearer" : null, forward),
                    rules,
                    keys);
        }

        @Override
        public Kind kind() {
            return Kind.JWT;
        }
    }

    /**
     * The client certificate of the connection. It applies to connections whose certificate has a name of the given kind. TLS
     * verifies, before the gateway sees it, that the client owns it and that a trusted authority issued it.
     */
    record ClientCertificate(CertificateName name) implements IdentitySource {
        @Override
        public Kind kind() {
            return Kind.CLIENT_CERTIFICATE;
        }

        @Override
        public @Nullable CredentialHeader header() {
            return null;
        }
    }

    /**
     * A bean of the application, which identifies tenants in its own way. It applies to requests for which the bean names a tenant. The
     * bean may read any part of the request; nothing that it reads is removed before the request is forwarded.
     *
     * @param name the name of the bean
     * @param place where the policy names it
     */
    record Bean(String name, Place place) implements IdentitySource {
        public Bean {
            if (name.isBlank()) {
                throw new IllegalArgumentException("bean: \"%s\" (expected: the name of a bean)".formatted(name));
            }
        }

        /** For a policy that is made by a program. */
        public Bean(String name) {
            this(name, Place.IN_A_PROGRAM);
        }

        @Override
        public Kind kind() {
            return Kind.BEAN;
        }

        @Override
        public @Nullable CredentialHeader header() {
            return null;
        }

        @Override
        public boolean collidesWith(IdentitySource other) {
            return other instanceof Bean bean && bean.name.equals(name);
        }
    }

    /**
     * A place in a policy, for errors that are found when the policy is put in force.
     *
     * @param file the name of the file; empty without one
     * @param line from 1; 0 without a file
     * @param key the path of the key, such as {@code tenants.identify[1].bean}
     */
    record Place(String file, int line, String key) {
        static final Place IN_A_PROGRAM = new Place("", 0, "identify");
    }

    /** The kind of name in a certificate that identifies the tenant. */
    enum CertificateName {
        SUBJECT_CN,
        SAN_DNS,
        SAN_URI,
        SAN_EMAIL;

        /** The form in the policy file. */
        public String label() {
            return inPolicy(this);
        }

        public static List<String> labels() {
            return Arrays.stream(values()).map(CertificateName::label).toList();
        }
    }

    private static String inPolicy(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The gateway writes the header that names the tenant itself, and no other header. */
    private static void requireForwarding(CredentialHeader header, boolean isFit) {
        if (!isFit) {
            throw new IllegalArgumentException("header: %s of %s (expected: %s only for a plain header)"
                    .formatted(header.forwarding(), header.name(), Forwarding.REPLACED));
        }
    }

    /** Whether both sources would read the same credential. */
    default boolean collidesWith(IdentitySource other) {
        CredentialHeader header = header();
        CredentialHeader others = other.header();
        return (header == null || others == null) ? equals(other) : header.overlaps(others);
    }
}
