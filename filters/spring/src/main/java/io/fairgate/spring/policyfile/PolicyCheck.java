package io.fairgate.spring.policyfile;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.model.Warning;
import io.fairgate.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.boot.context.properties.bind.BindException;

/** Completes the mistakes and warnings of a policy file by those that only this process can find. */
record PolicyCheck(RouteCheck routes, UpstreamConnections connections, ResolverBeans resolvers, PoolUsers users) {

    /** Every mistake of a file that cannot be read as a policy, including those of its routes, and names of beans that do not exist. */
    List<Mistake> mistakes(String file, InvalidPolicyException invalid) {
        List<Mistake> all = new ArrayList<>(invalid.mistakes());
        all.addAll(resolvers.unknown(invalid.readable().policy().identification()));
        List<RouteDeclaration> readable = invalid.readable().routes();
        for (Mistake ofRoute : ifBound(() -> routes.namesAndArguments(PolicyRoutes.of(file, readable)))) {
            // The file's mistake may be at an argument of the filter or predicate, and so on another line.
            boolean isKnown =
                    invalid.mistakes().stream().anyMatch(known -> known.key().startsWith(ofRoute.key()));
            if (!isKnown) {
                all.add(ofRoute);
            }
        }
        all.sort(Comparator.comparingInt(Mistake::line));
        return all;
    }

    /** What a file that can be read names, and this application does not have; and pools that the file no longer has, and the application needs. */
    List<Mistake> unknownNames(PolicyRoutes next, Policy policy) {
        List<Mistake> all = new ArrayList<>(resolvers.unknown(policy.identification()));
        all.addAll(routes.namesAndArguments(next));
        all.addAll(routes.removedPools(next, policy));
        all.sort(Comparator.comparingInt(Mistake::line));
        return all;
    }

    /** Routes of a file with mistakes may have a structure that cannot be bound; then they are not checked any further. */
    private static <T> List<T> ifBound(Supplier<List<T>> check) {
        try {
            return check.get();
        } catch (BindException | IndexOutOfBoundsException e) {
            return List.of();
        }
    }

    /**
     * What is allowed but rarely intended.
     *
     * @param policy may come from a file with mistakes, as far as it could be read
     */
    List<Warning> warnings(String file, PolicyFile policy) {
        List<Warning> all = new ArrayList<>(policy.warnings());
        all.addAll(ifBound(() -> connections.warnings(file, policy)));
        if (!users.mayBeOthers()) {
            all.addAll(policy.unusedPools());
        }
        all.sort(Comparator.comparingInt(Warning::line));
        return all;
    }
}
