package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource.CertificateName;
import io.fairgate.policy.Policy;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.security.auth.x500.X500Principal;
import org.springframework.http.server.reactive.SslInfo;
import reactor.core.publisher.Mono;

/** Identification by a name in the client's certificate. TLS has verified it; only its names are read here. */
record CertificateAuthenticator(CertificateName kind, Policy policy) implements Authenticator {

    @Override
    public Mono<Authentication> authenticate(Credential credential) {
        SslInfo tls = credential.tls();
        X509Certificate[] chain = tls == null ? null : tls.getPeerCertificates();
        if (chain == null || chain.length == 0) {
            return Mono.empty();
        }
        try {
            // The first certificate is the client's own, the others lead to the authority.
            Set<String> names = new LinkedHashSet<>(names(chain[0]));
            return names.isEmpty() ? Mono.empty() : Mono.just(new Authentication(tenant(names), null));
        } catch (NamingException | CertificateParsingException e) {
            throw new IdentityRefusedException(Reason.MALFORMED);
        }
    }

    /**
     * The tenant that the names mean. Several names must mean exactly one member between them; otherwise they are
     * refused as malformed. A single name that means no member is a tenant id, known or not.
     */
    private TenantId tenant(Set<String> names) {
        Set<TenantId> members =
                names.stream().flatMap(name -> member(name).stream()).collect(Collectors.toSet());
        if (members.size() == 1) {
            return members.iterator().next();
        } else if (names.size() > 1) {
            throw new IdentityRefusedException(Reason.MALFORMED);
        }
        String only = names.iterator().next();
        if (!TenantId.isWellFormed(only)) {
            throw new IdentityRefusedException(Reason.UNKNOWN_TENANT);
        }
        return TenantId.of(only);
    }

    private Optional<TenantId> member(String name) {
        TenantId listed = policy.identification().certificates().get(name);
        return listed != null || !TenantId.isWellFormed(name)
                ? Optional.ofNullable(listed)
                : Optional.of(TenantId.of(name)).filter(policy.members()::containsKey);
    }

    private List<String> names(X509Certificate certificate) throws NamingException, CertificateParsingException {
        return switch (kind) {
            case SUBJECT_CN -> commonNames(certificate.getSubjectX500Principal());
            // The numbers of RFC 5280, 4.2.1.6.
            case SAN_EMAIL -> alternativeNames(certificate, 1);
            case SAN_DNS -> alternativeNames(certificate, 2);
            case SAN_URI -> alternativeNames(certificate, 6);
        };
    }

    /** The common names, also those in an RDN of several attributes, which {@link Rdn#getType} would not show. */
    private static List<String> commonNames(X500Principal subject) throws NamingException {
        List<String> names = new ArrayList<>();
        for (Rdn rdn : new LdapName(subject.getName(X500Principal.RFC2253)).getRdns()) {
            Attribute attribute = rdn.toAttributes().get("CN");
            if (attribute != null) {
                Collections.list(attribute.getAll()).forEach(name -> names.add(String.valueOf(name)));
            }
        }
        return names;
    }

    private static List<String> alternativeNames(X509Certificate certificate, int type)
            throws CertificateParsingException {
        Collection<List<?>> all = certificate.getSubjectAlternativeNames();
        return all == null
                ? List.of()
                : all.stream()
                        .filter(name -> Integer.valueOf(type).equals(name.get(0)))
                        .map(name -> String.valueOf(name.get(1)))
                        .toList();
    }
}
