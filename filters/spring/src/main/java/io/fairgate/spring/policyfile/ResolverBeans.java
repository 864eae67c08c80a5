package io.fairgate.spring.policyfile;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.yaml.Suggestions;
import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import io.fairgate.spring.identity.TenantResolver;
import io.fairgate.spring.identity.TenantResolvers;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.NestedExceptionUtils;

/** The beans of the application that identify tenants, by name. */
public final class ResolverBeans implements TenantResolvers {

    private final ListableBeanFactory beans;

    ResolverBeans(ListableBeanFactory beans) {
        this.beans = beans;
    }

    /** @throws InvalidPolicyException when there is no such bean */
    @Override
    public TenantResolver get(IdentitySource.Bean source) {
        if (!exists(source)) {
            throw new InvalidPolicyException(List.of(mistake(source)), PolicyFile.NOTHING);
        }
        try {
            return beans.getBean(source.name(), TenantResolver.class);
        } catch (BeansException e) {
            Throwable cause = NestedExceptionUtils.getMostSpecificCause(e);
            throw new InvalidPolicyException(
                    List.of(mistake(
                            source,
                            "the bean \"%s\" cannot be created: %s".formatted(source.name(), cause.getMessage()),
                            "a bean that can be created at any time")),
                    PolicyFile.NOTHING);
        }
    }

    /** A mistake for each bean of the policy that does not exist. */
    public List<Mistake> unknown(Identification identification) {
        return identification.sources().stream()
                .flatMap(source -> source instanceof IdentitySource.Bean bean ? Stream.of(bean) : Stream.empty())
                .filter(source -> !exists(source))
                .map(this::mistake)
                .toList();
    }

    private boolean exists(IdentitySource.Bean source) {
        return beans.containsBean(source.name()) && beans.isTypeMatch(source.name(), TenantResolver.class);
    }

    private Mistake mistake(IdentitySource.Bean source) {
        List<String> known = List.of(beans.getBeanNamesForType(TenantResolver.class));
        String expected = known.isEmpty()
                ? "an application with such a bean, or a library that has it on the class path: docs/identity.md"
                : Suggestions.oneOf(source.name(), known);
        return mistake(source, "no bean \"%s\" of type TenantResolver".formatted(source.name()), expected);
    }

    private static Mistake mistake(IdentitySource.Bean source, String found, String expected) {
        IdentitySource.Place place = source.place();
        return new Mistake(place.file(), place.line(), place.key(), found.replaceAll("\\s+", " "), expected);
    }
}
