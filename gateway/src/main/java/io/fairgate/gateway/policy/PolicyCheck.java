package io.fairgate.gateway.policy;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.model.Warning;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.boot.context.properties.bind.BindException;

/**
 * All that can be told about a policy: what its file says by itself, what filters and predicates make of its routes, and
 * what does not go together with the settings of this process.
 */
final class PolicyCheck {

    private final RouteCheck routes;
    private final UpstreamConnections connections;

    PolicyCheck(RouteCheck routes, UpstreamConnections connections) {
        this.routes = routes;
        this.connections = connections;
    }

    /** Every mistake of a file that cannot be read as a policy, those of its routes with it. */
    List<Mistake> mistakes(String file, InvalidPolicyException invalid) {
        List<Mistake> all = new ArrayList<>(invalid.mistakes());
        List<RouteDeclaration> readable = invalid.readable().routes();
        for (Mistake ofRoute : ifBound(() -> routes.namesAndArguments(PolicyRoutes.of(file, readable)))) {
            // Its arguments may stand on lines of their own.
            boolean isTold =
                    invalid.mistakes().stream().anyMatch(told -> told.key().startsWith(ofRoute.key()));
            if (!isTold) {
                all.add(ofRoute);
            }
        }
        all.sort(Comparator.comparingInt(Mistake::line));
        return all;
    }

    /** Routes of a file with mistakes may be of a shape that cannot be bound at all: then there is no more to tell. */
    private static <T> List<T> ifBound(Supplier<List<T>> told) {
        try {
            return told.get();
        } catch (BindException | IndexOutOfBoundsException e) {
            return List.of();
        }
    }

    /**
     * Whatever else can be wrong with a policy whose file has no mistake. Its pools must be there.
     *
     * @throws InvalidRouteException naming every mistake with its line
     */
    void require(PolicyRoutes candidate) {
        routes.require(candidate);
    }

    /**
     * What is allowed and seldom meant.
     *
     * @param policy may be what could be made out of a file with mistakes
     */
    List<Warning> warnings(String file, PolicyFile policy) {
        List<Warning> all = new ArrayList<>(policy.warnings());
        all.addAll(ifBound(() -> connections.warnings(file, policy)));
        all.sort(Comparator.comparingInt(Warning::line));
        return all;
    }
}
